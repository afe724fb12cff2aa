package telegram

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// What fits on a phone's screen at once.
const (
	maxMessageUnits = 4096 // Telegram takes no more
	maxValueRunes   = 160
	maxLineRunes    = 240
	maxNameRunes    = 60
	maxAskedRunes   = 200 // of the owner's own words
	maxArguments    = 6
	briefArguments  = 2 // of each call, if there are several
	maxCardCalls    = 4
	maxButtonRunes  = 60 // of a button's words
	wholeButton     = 40 // that a phone shows whole
)

// questionCard writes what a person reads before touching a button. The calls
// are all that the question holds.
func questionCard(head string, calls []approval.Question, choices []choice) Text {
	var t Text
	t.head(head)
	if len(calls) > 0 && calls[0].Asked != "" {
		t.say("\n\nYou had said: ")
		t.quote(calls[0].Asked, maxAskedRunes)
	}
	for i, q := range calls {
		if i == maxCardCalls {
			fmt.Fprintf(sayer{&t}, "\n\nand %d more", len(calls)-i)
			break
		}
		if i > 0 || q.Asked == "" {
			t.say("\n")
		}
		t.say("\n")
		if len(calls) > 1 {
			t.say(strconv.Itoa(i+1) + ". ")
		}
		callLines(&t, q, len(calls) > 1)
	}
	if slices.ContainsFunc(choices, func(c choice) bool { return c.cmd.Picked != "" }) {
		t.say("\n\nWhere should it go? Only the right choice lets it happen. If you do not know, deny.")
	}
	for _, c := range choices {
		if c.spelled != "" {
			t.say("\n" + c.label + ": ")
			t.quote(c.spelled, maxLineRunes)
		}
	}
	return t
}

// headOf says in one line who wants what.
func headOf(calls []approval.Question) string {
	agent := "An agent"
	if len(calls) > 0 && calls[0].Action.Tool.Agent != "" {
		agent = cutRunes(visible(calls[0].Action.Tool.Agent), maxNameRunes)
	}
	if len(calls) > 1 {
		return fmt.Sprintf("%s wants to do %d things", agent, len(calls))
	}
	if len(calls) == 0 {
		return agent + " asks"
	}
	return agent + " wants to " + deed(calls[0].Action.Effects)
}

// deed says what a call does, by the gravest thing it does.
func deed(effects []floodmark.Effect) string {
	if len(effects) == 0 {
		return "use a tool nobody has described"
	}
	switch slices.Min(effects) {
	case floodmark.Admin:
		return "change what it may do or obey"
	case floodmark.Run:
		return "run a program"
	case floodmark.Send:
		return "send something to others"
	case floodmark.Change:
		return "create, change or delete something"
	case floodmark.Write:
		return "write a file or note"
	case floodmark.Fetch:
		return "fetch something from the internet"
	case floodmark.Observe:
	}
	return "look something up"
}

// callLines writes one call: action, arguments, source, consequence.
func callLines(t *Text, q approval.Question, brief bool) {
	q = unpicked(q)
	t.say("With ")
	t.quote(q.Action.Tool.String(), maxNameRunes)
	args := worstFirst(q)
	most, room := maxArguments, 1
	if brief {
		most, room = briefArguments, 2
	}
	for _, a := range args[:min(len(args), most)] {
		argumentLine(t, a, q.Pick, maxValueRunes/room)
	}
	if more := len(args) - most; more > 0 {
		fmt.Fprintf(sayer{t}, "\n(%d more not shown here)", more)
	}
	if q.Source != "" {
		t.say("\nAfter reading: ")
		t.quote(q.Source, maxLineRunes/room)
	} else if q.Consequence == "" && q.Line != "" {
		t.say("\n")
		t.quote(q.Line, maxLineRunes/room)
	}
	if q.Consequence != "" {
		t.say("\nIf you allow it: ")
		t.quote(q.Consequence, maxLineRunes/room)
	}
}

// unpicked takes what has to be picked out of everything else that is shown, or
// nobody would have to know it.
func unpicked(q approval.Question) approval.Question {
	if q.Pick == nil {
		return q
	}
	hide := func(text string) string {
		for _, value := range q.Pick.Among {
			if value != "" {
				text = strings.ReplaceAll(text, value, "(see below)")
			}
		}
		return text
	}
	q.Source, q.Consequence, q.Line = hide(q.Source), hide(q.Consequence), hide(q.Line)
	q.Action.Arguments = slices.Clone(q.Action.Arguments)
	for i := range q.Action.Arguments {
		q.Action.Arguments[i].Shown = hide(q.Action.Arguments[i].Shown)
	}
	return q
}

// worstFirst puts what a person should look at first: what is believed least.
// What is long text is not shown.
func worstFirst(q approval.Question) []floodmark.Argument {
	picked := func(a floodmark.Argument) bool { return q.Pick != nil && q.Pick.Argument == a.Path }
	shown := slices.DeleteFunc(slices.Clone(q.Action.Arguments), func(a floodmark.Argument) bool { return a.Shown == "" && a.Role == floodmark.Content })
	slices.SortStableFunc(shown, func(a, b floodmark.Argument) int {
		return cmp.Or(
			cmp.Compare(rank(!picked(a)), rank(!picked(b))),
			cmp.Compare(rank(a.Role == floodmark.Content), rank(b.Role == floodmark.Content)),
			cmp.Compare(rank(a.Whence == floodmark.Stated), rank(b.Whence == floodmark.Stated)),
			cmp.Compare(a.Trust, b.Trust),
		)
	})
	return shown
}

// hides reports whether a card leaves out an argument that matters and that the
// owner did not state: then nobody can say yes to it there.
func hides(q approval.Question, most int) bool {
	args := worstFirst(q)
	return slices.ContainsFunc(args[min(len(args), most):], func(a floodmark.Argument) bool {
		return a.Role != floodmark.Content && a.Whence != floodmark.Stated
	})
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func argumentLine(t *Text, a floodmark.Argument, pick *approval.Pick, most int) {
	t.say("\n")
	t.quote(a.Path, maxNameRunes)
	t.say(": ")
	if pick != nil && pick.Argument == a.Path && len(pick.Among) > 0 {
		t.say("choose below")
	} else if a.Shown == "" {
		t.say("not shown, it may be a secret")
	} else {
		t.quote(a.Shown, most)
	}
	switch {
	case mixed(a.Shown):
		t.say("\n   (!) has look-alike letters of another alphabet")
	case strings.Contains(a.Shown, "…"):
		t.say("\n   (!) not all of it is shown")
	}
	switch a.Whence {
	case floodmark.Seen:
		t.say("\n   taken from what it read, not from you")
	case floodmark.Nowhere:
		t.say("\n   written by the agent, not by you")
	case floodmark.Stated:
		t.say("\n   your own words")
	}
}

// lastLine says how long there is, and what silence means.
func lastLine(t *Text, left time.Duration, silence string) {
	fmt.Fprintf(sayer{t}, "\n\nAnswer within %s. %s", span(left.Round(5*time.Second)), silence)
}

func span(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", max(int(d/time.Second), 1))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d/time.Minute))
	}
	return fmt.Sprintf("%d hours", int(d/time.Hour))
}

// ending says how a question ended.
func ending(o approval.Outcome) string {
	at := ""
	if !o.At.IsZero() {
		at = " at " + o.At.UTC().Format("15:04 UTC")
	}
	by := cutRunes(visible(o.By), maxNameRunes)
	if id, ok := strings.CutPrefix(o.By, byPrefix); ok {
		by = "user " + cutRunes(visible(id), maxNameRunes) + " in Telegram"
	} else if by != "" && o.Channel != "" {
		by += " (" + cutRunes(visible(o.Channel), maxNameRunes) + ")"
	}
	switch {
	case o.Verdict == floodmark.Allow:
		return "Allowed by " + cmp.Or(by, "the owner") + at
	case o.Verdict == floodmark.Restrict:
		return "Denied by " + cmp.Or(by, "the owner") + at
	case o.Expired:
		return "Time ran out: not done"
	}
	return "Closed without an answer: " + cmp.Or(cutRunes(visible(o.By), maxLineRunes), "not done")
}

// closedCard is what is left of a card that is over.
func closedCard(head, why string) Text {
	var t Text
	t.head(head)
	if why != "" {
		t.say("\n\n" + why)
	}
	return t
}

// overCard is what is left of a card whose end nobody saw.
func overCard() Text {
	return closedCard("This question is over", "It was answered elsewhere, or its time ran out while the monitor was away.")
}

// A sayer lets formatted words of ours be said.
type sayer struct{ t *Text }

// Write implements [io.Writer].
func (s sayer) Write(p []byte) (int, error) {
	s.t.say(string(p))
	return len(p), nil
}
