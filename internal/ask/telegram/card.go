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

// The limits of a card, so that it fits on a phone's screen.
const (
	maxMessageUnits = 4096 // Telegram's limit
	maxValueRunes   = 160
	maxLineRunes    = 240
	maxNameRunes    = 60
	maxGateRunes    = 80 // OpenClaw's sessions have 61
	maxCardCalls    = 4
	maxButtonRunes  = 60 // of a button's label
	wholeButton     = 40 // a label that a phone shows as a whole
)

// questionCard returns the text that a person reads before pressing a button. calls are all calls
// of the question; their text is the same in every channel.
func questionCard(head approval.Phrase, calls []approval.Question, choices []choice) Text {
	var t Text
	t.phrase("bold", head)
	for i, q := range calls {
		if i == maxCardCalls {
			fmt.Fprintf(sayer{&t}, "\n\nand %d more", len(calls)-i)
			break
		}
		c := q.Card(len(calls) > 1)
		if i == 0 && len(c.Asked) > 0 {
			t.say("\n\n")
			t.phrase("", c.Asked)
		}
		t.say("\n\n")
		if len(calls) > 1 {
			t.say(strconv.Itoa(i+1) + ". To ")
			t.phrase("", c.Deed)
			t.say("\n")
		}
		for n, line := range c.Body {
			if n > 0 {
				t.say("\n")
			}
			t.phrase("", line)
		}
	}
	if slices.ContainsFunc(choices, func(c choice) bool { return c.cmd.Picked != "" }) {
		t.say("\n\nWhere does it go? Only the right choice lets it happen. If you do not know, deny.")
	}
	for _, c := range choices {
		if c.spelled != "" {
			t.say("\n" + c.label + ": ")
			t.quote(c.spelled, maxLineRunes)
		}
	}
	return t
}

// hides reports whether a card leaves out an argument that matters and that the owner did not
// state. Then the question cannot be approved by its card.
func hides(q approval.Question, brief bool) bool { return q.Card(brief).Hides }

// lastLine writes the remaining time, and what happens without an answer.
func lastLine(t *Text, left time.Duration, silence string) {
	fmt.Fprintf(sayer{t}, "\n\nAnswer within %s. %s", until(left), silence)
}

// until rounds the remaining time for display.
func until(left time.Duration) string { return span(left.Round(5 * time.Second)) }

func span(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", max(int(d/time.Second), 1))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d/time.Minute))
	}
	return fmt.Sprintf("%d hours", int(d/time.Hour))
}

// ending returns the sentence on how a question ended.
func ending(o approval.Outcome) approval.Phrase { return approval.Phrase{{Text: endingWords(o)}} }

func endingWords(o approval.Outcome) string {
	at := ""
	if !o.At.IsZero() {
		at = " at " + o.At.UTC().Format("15:04 UTC")
	}
	by := cutRunes(floodmark.Visible(o.By), maxNameRunes)
	if id, ok := strings.CutPrefix(o.By, byPrefix); ok {
		by = "user " + cutRunes(floodmark.Visible(id), maxNameRunes) + " in Telegram"
	} else if by != "" && o.Channel != "" {
		by += " (" + cutRunes(floodmark.Visible(o.Channel), maxNameRunes) + ")"
	}
	switch {
	case o.Verdict == floodmark.Allow:
		return "Allowed by " + cmp.Or(by, "the owner") + at
	case o.Verdict == floodmark.Restrict:
		return "Denied by " + cmp.Or(by, "the owner") + at
	case o.Expired:
		return "Time ran out: not done"
	}
	return "Closed without an answer: " + cmp.Or(cutRunes(floodmark.Visible(o.By), maxLineRunes), "not done")
}

// closedCard replaces a card that is over.
func closedCard(head, why string) Text {
	var t Text
	t.head(head)
	if why != "" {
		t.say("\n\n" + why)
	}
	return t
}

// overCard replaces a card whose outcome is unknown.
func overCard() Text {
	return closedCard("This question is over", "It was answered elsewhere, or its time ran out while the monitor was away.")
}

// A sayer writes formatted text of our own to a card.
type sayer struct{ t *Text }

// Write implements [io.Writer].
func (s sayer) Write(p []byte) (int, error) {
	s.t.say(string(p))
	return len(p), nil
}
