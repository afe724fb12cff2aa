package hook

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// A Push is what is known of a command that pushes a branch.
type Push struct {
	// Digest stands for all that a person is shown of it; zero if nothing can be shown.
	Digest floodmark.Digest
	// Head says in words of ours what would be sent and where to, Body shows it: what others
	// wrote stands there behind two spaces and a sign.
	Head, Body []string
	// Unseen says why it cannot be shown. A person is asked all the same, and told.
	Unseen string
	// Refuse says what the agent has to do instead, where a person would have to be asked.
	Refuse string
}

// Reviewed reports a push that a person can be shown.
func (p *Push) Reviewed() bool { return p != nil && !p.Digest.IsZero() }

// Added is what a person is shown of the lines that a push adds; empty if it cannot be shown.
func (p *Push) Added() string {
	if !p.Reviewed() {
		return ""
	}
	var added strings.Builder
	for _, line := range p.Body {
		if text, adds := strings.CutPrefix(line, "  + "); adds {
			added.WriteString(text + "\n")
		}
	}
	return added.String()
}

// In is what is known of the push of a call that pushes, and of no other.
func (p *Push) In(pushes bool) *Push {
	if !pushes {
		return nil
	}
	return p
}

// Apart refuses a push that would be asked about and can only be looked at otherwise.
func (p *Push) Apart(d *floodmark.Decision) {
	if p == nil || p.Refuse == "" || d.Verdict != floodmark.Confirm {
		return
	}
	d.Verdict, d.Remedy = floodmark.Restrict, floodmark.Remedy{Agent: p.Refuse, Person: "There is nothing for you to do yet."}
	d.Reasons = append([]floodmark.Reason{{Code: floodmark.PushShown, Text: p.Refuse}}, d.Reasons...)
}

// With is a digest of what a call depends on, and of what is shown of its push: a yes to
// one push is none to another, and none to one that cannot be shown.
func (p *Push) With(others floodmark.Digest) floodmark.Digest {
	if p == nil {
		return others
	}
	return floodmark.DigestOf("push\x00" + p.Digest.String() + "\x00" + p.Unseen + "\x00" + others.String())
}
