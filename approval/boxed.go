package approval

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// Boxed is the newest call that was let through in a box, until another one is let through
// that may have changed what it would do. If it failed and comes again at once, there is
// something that it does not get in a box, and a person is asked whether it may run outside
// of one. An agent that has changed something in between tries it in the box once more.
type Boxed struct {
	Call   floodmark.CallID  `json:"call"`
	Tool   floodmark.ToolRef `json:"tool"`
	Args   floodmark.Digest  `json:"args"`
	Failed bool              `json:"failed,omitempty"`
	Wanted []string          `json:"wanted,omitempty"` // hosts, in vain
	// NotKept are files that it wrote and that were not moved into the project.
	NotKept []string `json:"notKept,omitempty"`
}

// Boxes takes note of a call that was let through.
func (b *Book) Boxes(a floodmark.Action, r floodmark.Reach) {
	if r == floodmark.Boxed {
		b.InBoxes = append(slices.Clip(b.InBoxes), a.Call)[:min(len(b.InBoxes)+1, maxInBoxes)]
		b.Boxed = &Boxed{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest}
	} else if len(a.Effects) == 0 || slices.ContainsFunc(a.Effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch }) {
		b.Boxed = nil
	}
}

// maxInBoxes bounds the calls that are in boxes at once. Once there are as many, any call may be one.
const maxInBoxes = 256

// HadToBeBoxed reports whether a call that gives something now was let through in a box alone.
func (b *Book) HadToBeBoxed(c floodmark.CallID) bool {
	return len(b.InBoxes) >= maxInBoxes || slices.Contains(b.InBoxes, c)
}

// BoxEnded takes note of how a call ended.
func (b *Book) BoxEnded(f floodmark.ContentArrived, c floodmark.CallID) {
	if i := slices.Index(b.InBoxes, c); i >= 0 && len(b.InBoxes) < maxInBoxes {
		b.InBoxes = slices.Delete(slices.Clone(b.InBoxes), i, i+1)
	}
	if was := b.Boxed; was != nil && f.BoxFailed && was.Call == c {
		b.Boxed = &Boxed{Call: c, Tool: was.Tool, Args: was.Args, Failed: true, Wanted: f.Wanted, NotKept: f.NotKept}
	}
}

// FailedInBox reports the call that failed in its box just now. One that a person refused
// outside of it stays there.
func (b *Book) FailedInBox(t floodmark.ToolRef, args floodmark.Digest) bool {
	return b.Boxed != nil && b.Boxed.Failed && b.Boxed.Tool == t && b.Boxed.Args == args && !b.Denied(t, args)
}

// Reason says why a person is asked about it. What the command chose stands between quotation
// marks: a card sets it apart. Holes says that a box here could let it reach a host.
func (b *Boxed) Reason(holes bool) floodmark.Reason {
	text := "it failed in its box, which has no network, no secrets and only this project"
	switch {
	case len(b.Wanted) > 0:
		text = "it failed in its box: it wanted " + quoted(b.Wanted) + ", and a box has no network"
	case len(b.NotKept) > 0:
		text = "it failed in its box: " + quoted(b.NotKept) + " cannot be written from there"
	}
	if !holes && len(places(b.Wanted)) > 0 {
		text += ", nor a way to a single host inside this agent's own sandbox"
	}
	return floodmark.Reason{Code: floodmark.OutsideBox, Verdict: floodmark.Confirm, Text: text}
}

func quoted(names []string) string {
	marked := make([]string, len(names))
	for i, n := range names {
		marked[i] = Phrase{{Text: n, Foreign: true}}.String()
	}
	return strings.Join(marked, ", ")
}

// maxBoxed bounds what a card says of a box: it may be from the journal of another machine.
const maxBoxed = 500

// boxed is the line about a box on a card.
func boxed(line string) Phrase {
	if line == "" {
		return nil
	}
	return spelled(capital(line))
}

// spelled sets apart what stands between quotation marks in words of ours.
func spelled(line string) (p Phrase) {
	for line = floodmark.Shorten(floodmark.Visible(line), maxBoxed); ; {
		ours, rest, found := strings.Cut(line, "“")
		if ours != "" {
			p = p.say(ours)
		}
		name, after, closed := strings.Cut(rest, "”")
		if !found || !closed {
			return p
		}
		p, line = append(p, Part{Text: name, Foreign: true}), after
	}
}
