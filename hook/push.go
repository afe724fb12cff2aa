package hook

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// A Push describes a command that pushes a branch.
type Push struct {
	// Digest identifies all that a person is shown of the push; zero if nothing can be shown.
	Digest floodmark.Digest
	// Head says in our own words what would be sent, and where to. Body shows it: foreign text in
	// Body follows two spaces and a sign.
	Head, Body []string
	// Rest are added lines and commit messages that did not fit into Body.
	Rest []string
	// Sent is a short form of Head and Body, for a card.
	Sent Sent
	// Unseen says why the push cannot be shown. A person is asked nevertheless and sees the reason.
	Unseen string
	// Refuse says what the agent must do instead. If it is set, the push is refused in every case
	// in which a person would be asked.
	Refuse string
	// Holds names the first file to which the push adds a value from a file of secrets; empty if
	// there is none.
	Holds string
}

// Sent is what an inspected push sends, in short.
type Sent struct {
	// Sums says how much the push sends, in our own words: «1 commit, 2 files, +3 -1 lines».
	Sums string
	// Branch is the remote branch.
	Branch string
	// Fresh says that Branch does not exist yet.
	Fresh bool
	// Files are some of the changed files, and Hosts are hosts that these files did not name
	// before.
	Files, Hosts []string
}

// A Remote is what «origin» means in the project of a session. The zero Remote is unknown.
type Remote struct {
	// Address is where git's settings send a push, without any password; empty if the settings are
	// not clear about it.
	Address string
	// Team says that the owner declared the repository as their team's. Own says that only the
	// owner has committed to it.
	Team, Own bool
	// Changed says that git's settings differ from those at the session's start.
	Changed bool
}

// Reviewed reports whether the push can be shown to a person.
func (p *Push) Reviewed() bool { return p != nil && !p.Digest.IsZero() }

// Searched returns a copy of the push without Rest, after searching all that it sends for secrets.
// If there is a secret, Holds names the first file with one.
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

// added returns all that the push sends (added lines, names of files, commit messages) and, for
// each file that is shown, its added lines.
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

// Apart restricts the decision if a person would be asked about the push but it must be made
// differently before it can be shown. If the push contains a secret and is not allowed, it also
// tells the agent where the secret is.
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

// With combines rest, the digest of everything else that a call depends on, with what the owner is
// shown of the push. An approval is bound to the result, so it covers no other push.
func (p *Push) With(rest floodmark.Digest) floodmark.Digest {
	if p == nil {
		return rest
	}
	return floodmark.DigestOf("push\x00" + p.Digest.String() + "\x00" + p.Unseen + "\x00" + rest.String())
}
