package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// writer says in plain words who wrote what led to a question.
func (st *step) writer(j *judged) string {
	a, _ := culprit(j.action.Arguments)
	nodes := slices.Clone(j.decision.Blame)
	if a.Whence == floodmark.Seen && len(a.Spans) > 0 {
		nodes = append([]floodmark.NodeID{a.Spans[0].Node}, nodes...)
	}
	for _, n := range nodes {
		if src, ok := st.s.Ledger.Source(n); ok {
			return author(src, st.s.Ledger.Effective(n).Trust)
		}
	}
	for _, src := range loadedFrom(&j.basis) {
		return author(src, src.Label.Trust)
	}
	return "the agent itself"
}

// maxLastWords bounds what a question repeats of the owner's own message: some
// lines on a phone.
const maxLastWords = 300

// lastWords is how the owner's last message begins, without what he would not
// want to read on a phone.
func (st *step) lastWords() string {
	if len(st.s.Owner) == 0 {
		return ""
	}
	said := st.veiled(st.s.Owner[len(st.s.Owner)-1])
	return visibleUpTo(strings.Join(strings.Fields(said), " "), maxLastWords)
}

// author says who may have written a source.
func author(s floodmark.Source, t floodmark.Trust) string {
	name, _, _ := strings.Cut(sourceName(s, t), " ("+t.String()+")")
	switch t {
	case floodmark.Untrusted:
		return name + ", which anybody can have written"
	case floodmark.External:
		return name + ", written by others"
	case floodmark.Shared:
		return name + ", shared with others"
	case floodmark.Local, floodmark.Owner, floodmark.System:
	}
	return name
}

// consequence says in plain words what happens after a yes.
func consequence(j *judged) string {
	tool := visible(j.action.Tool.String())
	to, more := "", 0
	for _, i := range j.basis.Destinations { // whoever is left out must be counted
		switch a := j.action.Arguments[i]; {
		case a.Shown != "" && to == "":
			to = " " + strconv.Quote(visible(a.Shown))
		case a.Role == floodmark.Undeclared && !strings.Contains(a.Shown, "@") && !strings.Contains(a.Shown, "://"):
		case a.Shown != "" || slices.Contains(j.basis.Cut, i):
			more++
		}
	}
	if to != "" && more > 0 {
		to += fmt.Sprintf(" and to %d more", more)
	}
	if len(j.action.Effects) == 0 {
		return tool + " does what nobody has described."
	}
	switch slices.Min(j.action.Effects) {
	case floodmark.Admin:
		return "It changes the agent itself, what it obeys, or this monitor."
	case floodmark.Run:
		return "Code runs on your machine with your rights."
	case floodmark.Send:
		if to != "" {
			return "It goes out to" + to + " and cannot be called back."
		}
		return "It goes out to others and cannot be called back."
	case floodmark.Change:
		return "Something others may rely on is made, changed or deleted."
	case floodmark.Write:
		return "A file or note is written."
	case floodmark.Fetch:
		return "That place learns what is asked for, and the agent reads what it answers."
	case floodmark.Observe:
	}
	return "Nothing leaves and nothing changes."
}
