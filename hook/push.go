package hook

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// A Push describes a command that pushes a branch.
type Push struct {
	// Digest stands for all that a person is shown of it; zero if nothing can be shown.
	Digest floodmark.Digest
	// Head says in our own words what would be sent and where to, and Body shows it: foreign text
	// follows two spaces and a sign.
	Head, Body []string
	// Rest are added lines, and texts of commits, that did not fit into Body.
	Rest []string
	// Sent is the same in short, for a card.
	Sent Sent
	// Unseen says why it cannot be shown. A person is asked nevertheless, and told why.
	Unseen string
	// Refuse says what the agent has to do instead, where a person would have to be asked.
	Refuse string
	// Holds is the file to which it adds a value from a file of secrets; empty if none.
	Holds string
}

// Sent is what an inspected push sends, in short.
type Sent struct {
	// Sums counts it in our own words: «1 commit, 2 files, +3 -1 lines».
	Sums string
	// Branch is the remote branch, and Fresh says that it does not exist yet.
	Branch string
	Fresh  bool
	// Files are some of the changed files, and Hosts the hosts they did not name before.
	Files, Hosts []string
}

// A Remote is what «origin» means in the project of a session. The zero Remote is unknown.
type Remote struct {
	// Address is where git's settings send a push, without a possible password; empty if they do
	// not say that plainly.
	Address string
	// Team says, by the owner's word, that it belongs to the owner's team, and Own that only the
	// owner has committed to it.
	Team, Own bool
	// Changed says that these settings differ from those at the session's start.
	Changed bool
}

// Reviewed reports a push that a person can be shown.
func (p *Push) Reviewed() bool { return p != nil && !p.Digest.IsZero() }

// Searched returns the push after searching its added lines for secrets, with the first file that
// holds one.
func (p *Push) Searched(secret func(text string) bool) *Push {
	if !p.Reviewed() {
		return p
	}
	all, files := p.added()
	holds := func(lines []string) bool { return secret(strings.Join(lines, "\n") + "\n") }
	found := *p
	found.Rest = nil // a waiting question keeps only what it shows
	if !holds(all) {
		return &found
	}
	found.Holds = "the commits"
	for _, f := range files {
		if holds(f.lines) {
			found.Holds = f.name
			break
		}
	}
	found.Head = append([]string{"(!) " + found.Holds + " would send a value out of a file with secrets"}, p.Head...)
	return &found
}

type addedTo struct {
	name  string
	lines []string
}

// added returns what is sent, as a whole and, as far as it is shown, by file: added lines, names of
// files, and texts of commits.
func (p *Push) added() (all []string, files []addedTo) {
	for _, line := range p.Body {
		if name, titles := strings.CutPrefix(line, "file "); titles {
			name, _, _ = strings.Cut(name, "» ")
			files = append(files, addedTo{name: strings.TrimSuffix(name, "»") + "»"})
			all = append(all, line)
		} else if text, says := strings.CutPrefix(line, "  | "); says {
			all = append(all, text)
		} else if text, adds := strings.CutPrefix(line, "  + "); adds {
			all = append(all, text)
			if n := len(files); n > 0 {
				files[n-1].lines = append(files[n-1].lines, text)
			}
		}
	}
	return append(all, p.Rest...), files
}

// In returns p for a call that pushes, and nil for others.
func (p *Push) In(pushes bool) *Push {
	if !pushes {
		return nil
	}
	return p
}

// Apart refuses a push that would be asked about but must be made differently to be shown, and says
// where a secret is.
func (p *Push) Apart(d *floodmark.Decision) {
	if p != nil && p.Holds != "" && d.Verdict != floodmark.Allow {
		d.Remedy.Agent = "A value out of a file with secrets stands in " + p.Holds + ". Take it out of the commits that are not pushed yet, then push again."
	}
	if p == nil || p.Refuse == "" || d.Verdict != floodmark.Confirm {
		return
	}
	d.Verdict, d.Remedy = floodmark.Restrict, floodmark.Remedy{Agent: p.Refuse, Person: "There is nothing for you to do yet."}
	d.Reasons = append([]floodmark.Reason{{Code: floodmark.PushShown, Text: p.Refuse}}, d.Reasons...)
}

// With is a digest of what a call depends on, and of what is shown of its push: approving one push
// approves no other, and none that cannot be shown.
func (p *Push) With(others floodmark.Digest) floodmark.Digest {
	if p == nil {
		return others
	}
	return floodmark.DigestOf("push\x00" + p.Digest.String() + "\x00" + p.Unseen + "\x00" + others.String())
}
