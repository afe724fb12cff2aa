package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// Waiting lists the open questions.
func Waiting(c *cli.Console, cmd *cobra.Command, p cli.Place, session string) error {
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Pending, &wire.PendingRequest{Session: session})
	if err != nil {
		return err
	}
	if !c.StdoutTerminal {
		hideCodes(a.GetQuestions())
	}
	if cli.Format(cmd) == cli.AsJSON {
		return c.Message(a)
	}
	PassedOver(c, a.GetUnread())
	if len(a.GetQuestions()) == 0 {
		c.Say("no question waits")
		return nil
	}
	out := &cli.Sheet{St: c.OutStyle()}
	QuestionsText(out, a.GetQuestions(), p, c.Clock())
	fmt.Fprint(c.Stdout, out)
	return nil
}

// PassedOver says which sessions are missing from a list, and why.
func PassedOver(c *cli.Console, lines []string) {
	for _, line := range lines {
		c.Say("%s", cli.Plain(line))
	}
}

// hideCodes removes the codes from output that is not shown to a person.
func hideCodes(list []*wire.Question) {
	for _, q := range list {
		q.Code = ""
	}
}

// QuestionsText lists questions with the commands that answer each. Questions that an agent is
// waiting for come first.
func QuestionsText(p *cli.Sheet, list []*wire.Question, where cli.Place, now time.Time) {
	for i, q := range cardscreen.Listed(list) {
		if i > 0 {
			p.B.WriteByte('\n')
		}
		cardText(p, q, now)
		name := cli.ShellWord(q.GetTicket()) + where.Flags()
		approve := "floodmark approve " + name + " shows the whole call and asks you"
		if strings.HasPrefix(q.GetSession(), "laptop/") && where.Fleet == "" {
			approve = "on that laptop, or by a person who is logged in here with --fleet"
		}
		if cardscreen.Picks(q) {
			approve = "floodmark approve " + name + " --to ADDRESS"
		}
		p.Line(4, "no:  floodmark deny "+name)
		p.Line(4, "yes: "+approve)
	}
}

// cardText prints one question in a few rows.
func cardText(p *cli.Sheet, q *wire.Question, now time.Time) {
	left := q.GetExpires().AsTime().Sub(now)
	head := fmt.Sprintf("%s, session %s, ends in %s", q.GetTicket(), q.GetSession(), cli.Span(left))
	if q.GetOver() {
		head += ", its turn has ended: after a yes tell the agent to go on"
	}
	p.Painted(2, head, p.St.Yellow)
	if h := q.GetHeld(); h != nil {
		p.Line(4, "it is quiet: you are told of this only at "+cli.Stamp(h)+"; you can answer it all the same")
	}
	if q.GetTwo() {
		p.Line(4, cardscreen.Two(q))
	}
	if len(q.GetCalls()) != 1 {
		for _, call := range q.GetCalls() {
			p.Line(4, call.GetLine())
		}
		return
	}
	for _, r := range cardscreen.Card(q, ListWidth, 0) {
		if !r.Faint { // faint rows are the keys of a screen
			p.Line(4, r.Text)
		}
	}
}

// ListWidth is the width of a card in a list.
const ListWidth = 76
