package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cardscreen"
	"github.com/floodmark/floodmark/wire"
)

// waiting lists the open questions.
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

// passedOver says which sessions are missing in a list, and why.
func (c *console) passedOver(lines []string) {
	for _, line := range lines {
		c.say("%s", plain(line))
	}
}

// hideCodes removes the codes from output that is not shown to a person.
func hideCodes(list []*wire.Question) {
	for _, q := range list {
		q.Code = ""
	}
}

// questionsText lists questions with how to answer each, first those that an agent waits for.
func questionsText(p *sheet, list []*wire.Question, where place, now time.Time) {
	for i, q := range cardscreen.Listed(list) {
		if i > 0 {
			p.b.WriteByte('\n')
		}
		cardText(p, q, now)
		name := shellWord(q.GetTicket()) + where.flags()
		approve := "floodmark approve " + name + " shows all of it and asks you"
		if strings.HasPrefix(q.GetSession(), "laptop/") && where.fleet == "" {
			approve = "on that laptop, or by a person who is logged in here with --fleet"
		}
		if cardscreen.Picks(q) {
			approve = "floodmark approve " + name + " --to ADDRESS"
		}
		p.line(4, "no:  floodmark deny "+name)
		p.line(4, "yes: "+approve)
	}
}

// cardText is one question in a few rows.
func cardText(p *sheet, q *wire.Question, now time.Time) {
	left := q.GetExpires().AsTime().Sub(now)
	head := fmt.Sprintf("%s, session %s, ends in %s", q.GetTicket(), q.GetSession(), span(left))
	if q.GetOver() {
		head += ", its turn has ended: after a yes tell the agent to go on"
	}
	p.painted(2, head, p.st.yellow)
	if h := q.GetHeld(); h != nil {
		p.line(4, "it is quiet: you are told of this only at "+stamp(h)+"; you can answer it all the same")
	}
	if q.GetTwo() {
		p.line(4, cardscreen.Two(q))
	}
	if len(q.GetCalls()) != 1 {
		for _, call := range q.GetCalls() {
			p.line(4, call.GetLine())
		}
		return
	}
	for _, r := range cardscreen.Card(q, listWidth, 0) {
		if !r.Faint { // the keys of a screen
			p.line(4, r.Text)
		}
	}
}

// listWidth is how wide a card is in a list.
const listWidth = 76
