package approval

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// Boxed is the newest call allowed in a box, until a later call may have changed its effect. If the
// call failed and is made again right afterwards, it probably needs something that the box lacks,
// and a person is asked whether it may run outside. If another call may have changed something in
// between, the retry runs in the box once more.
type Boxed struct {
	Call   floodmark.CallID  `json:"call"`
	Tool   floodmark.ToolRef `json:"tool"`
	Args   floodmark.Digest  `json:"args"`
	Failed bool              `json:"failed,omitempty"`
	Wanted []string          `json:"wanted,omitempty"` // hosts it could not reach
	// NotKept are files that the call wrote and that were not copied to the project.
	NotKept []string `json:"notKept,omitempty"`
}

// Boxes records an allowed call. A call that runs in a box is remembered as the newest boxed call. A
// call that runs outside of a box and may change something makes the book forget that call.
func (b *Book) Boxes(a floodmark.Action, r floodmark.Reach) {
	if r == floodmark.Boxed {
		b.InBoxes = append(slices.Clip(b.InBoxes), a.Call)[:min(len(b.InBoxes)+1, maxInBoxes)]
		b.Boxed = &Boxed{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest}
	} else if len(a.Effects) == 0 || slices.ContainsFunc(a.Effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch }) {
		b.Boxed = nil
	}
}

// maxInBoxes bounds the calls that are in boxes at the same time. When it is reached, every call is
// treated as one that was allowed only in a box.
const maxInBoxes = 256

// HadToBeBoxed reports whether a call without a result yet was allowed only in a box.
func (b *Book) HadToBeBoxed(c floodmark.CallID) bool {
	return len(b.InBoxes) >= maxInBoxes || slices.Contains(b.InBoxes, c)
}

// BoxEnded records how a call ended.
func (b *Book) BoxEnded(f floodmark.ContentArrived, c floodmark.CallID) {
	if i := slices.Index(b.InBoxes, c); i >= 0 && len(b.InBoxes) < maxInBoxes {
		b.InBoxes = slices.Concat(b.InBoxes[:i], b.InBoxes[i+1:]) // nil if none is left, as when it is read
	}
	if was := b.Boxed; was != nil && f.BoxFailed && was.Call == c {
		b.Boxed = &Boxed{Call: c, Tool: was.Tool, Args: was.Args, Failed: true, Wanted: f.Wanted, NotKept: f.NotKept}
	}
}

// FailedInBox reports whether the call just failed in its box. It returns false if a person denied
// running it outside, so that it is tried in the box again.
func (b *Book) FailedInBox(t floodmark.ToolRef, args floodmark.Digest) bool {
	return b.Boxed != nil && b.Boxed.Failed && b.Boxed.Tool == t && b.Boxed.Args == args && !b.Denied(t, args, false)
}

// Reason returns why a person is asked about the call. Names that come from the command are in
// quotation marks, so that a card can set them apart. Holes says that a box on this machine could
// let the call reach single hosts.
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

// maxBoxed bounds a card's line about a box, because the line may come from another machine.
const maxBoxed = 500

// boxed returns the line about a box on a card.
func boxed(line string) Phrase {
	if line == "" {
		return nil
	}
	return spelled(capital(line))
}

// spelled turns quoted parts of our own words into foreign parts.
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
