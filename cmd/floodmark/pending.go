package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/wire"
)

// waiting lists the questions that wait.
func (c *console) waiting(cmd *cobra.Command, p place, session string) error {
	a, err := ask(cmd.Context(), c, p, (*desk).Pending, &wire.PendingRequest{Session: session})
	if err != nil {
		return err
	}
	if !c.stdoutTerminal {
		hideCodes(a.GetQuestions())
	}
	if format(cmd) == asJSON {
		return c.message(a)
	}
	c.passedOver(a.GetUnread())
	if len(a.GetQuestions()) == 0 {
		c.say("no question waits")
		return nil
	}
	out := &sheet{st: c.outStyle()}
	questionsText(out, a.GetQuestions(), p, c.clock())
	fmt.Fprint(c.stdout, out)
	return nil
}

// passedOver says which sessions a list is without, and why.
func (c *console) passedOver(lines []string) {
	for _, line := range lines {
		c.say("%s", plain(line))
	}
}

// hideCodes takes the codes away from what goes somewhere else than to a
// person's eyes.
func hideCodes(list []*wire.Question) {
	for _, q := range list {
		q.Code = ""
	}
}

// questionsText is a list of questions with how to answer each.
func questionsText(p *sheet, list []*wire.Question, where place, now time.Time) {
	for i, q := range list {
		if i > 0 {
			p.b.WriteByte('\n')
		}
		cardText(p, q, now)
		approve := "the code to approve it is shown at a terminal only"
		name := q.GetCode()
		if strings.HasPrefix(q.GetSession(), "laptop/") {
			approve = "on that laptop, or by somebody who is logged in here with --fleet: it has no code"
		}
		if where.fleet != "" {
			name = shellWord(q.GetTicket()) // there are no codes at a distance
		}
		if name != "" {
			approve = "floodmark approve " + name + where.flags()
			if picks(q) {
				approve += " --to ADDRESS"
			}
		}
		p.line(4, "to deny:    floodmark deny "+shellWord(q.GetTicket())+where.flags())
		p.line(4, "to approve: "+approve)
	}
}

// cardText is one question.
func cardText(p *sheet, q *wire.Question, now time.Time) {
	left := q.GetExpires().AsTime().Sub(now)
	p.painted(2, fmt.Sprintf("%s, session %s, ends in %s", q.GetTicket(), q.GetSession(), span(left)), p.st.yellow)
	if h := q.GetHeld(); h != nil {
		p.line(4, "it is quiet: nobody is told of this before "+stamp(h)+"; you can answer it all the same")
	}
	if q.GetTwo() {
		p.line(4, twoText(q))
	}
	for _, call := range q.GetCalls() {
		for i, l := range cardLines(call) {
			p.line(l.indent+4+2*min(i, 1), l.text)
		}
		askedText(p, call)
	}
}

// twoText says how many of the two people have approved a question.
func twoText(q *wire.Question) string {
	if q.GetApprovedBy() == "" {
		return "it takes two people; nobody has approved it yet"
	}
	return "one of two: " + q.GetApprovedBy() + " has approved it, and another person has to"
}

// askedText is what a person can choose from, and what has to be said.
func askedText(p *sheet, call *wire.AskedCall) {
	for i, o := range call.GetOffers() {
		if i > 0 {
			p.line(6, fmt.Sprintf("with --offer %d: %s", i+1, o.GetWords()))
		}
	}
	if call.GetPattern() != "" {
		p.line(6, "with --for this pattern would be allowed: "+call.GetPattern())
	}
	if k := call.GetPick(); k != nil {
		p.line(6, pickText(k))
	}
}

// A cardLine is one line of a question.
type cardLine struct {
	indent int
	text   string
}

// cardLines are a call as every channel words it. A monitor of an older version that
// was not there when it was asked knows one line of it.
func cardLines(call *wire.AskedCall) []cardLine {
	if len(call.GetCard()) == 0 {
		return []cardLine{{text: call.GetLine()}}
	}
	list := make([]cardLine, len(call.GetCard()))
	for i, text := range call.GetCard() {
		if list[i].text = text; strings.HasPrefix(text, " ") {
			list[i].indent = 3
		}
	}
	return list
}

// pickText says what has to be said besides yes.
func pickText(k *wire.Pick) string {
	text := "Say where it goes: " + k.GetWords()
	if k.GetArgument() != "" {
		text = "A text from others says where this goes, so " + k.GetWords()
	}
	if len(k.GetAmong()) > 0 {
		text += ": " + strings.Join(k.GetAmong(), " · ")
	}
	return text
}

// picks reports whether an approval has to say where a call goes.
func picks(q *wire.Question) bool {
	return slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return c.GetPick() != nil })
}
