package asking

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/wire"
)

// NewWatch is the command «floodmark watch».
func NewWatch(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.WatchRequest{}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch what happens, and answer questions",
		Long: `Show decisions, questions, answers and incidents as they happen. While this runs, an
agent that has to ask waits for your answer, as long as the agent's own limit
allows, instead of being refused at once.

At a terminal you answer one call at a time, the newest first: y says yes to it, n
says no, a says «always here», d shows every line of it, 2 and 3 choose another
wider yes, ? shows the keys. A key answers the card that you see. It does not answer
a card that has just appeared, and it cannot say yes before you have seen the whole
call. If you are asked because of a single source, and it is not from strangers or
people outside, t trusts that source as «floodmark trust» does, after it was shown
in full and you pressed enter. If the output is not a terminal, each event is one
line; with --output json it is one JSON object.`,
		Example: `  floodmark watch
  floodmark watch --session codex:0199
  floodmark watch --output json | jq -c 'select(.incident)'`,
		Annotations: cli.Exits("you ended it", "no monitor runs, or it stopped"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			d, err := c.DeskFor(cmd.Context(), p)
			if err != nil {
				return err
			}
			defer d.End()
			if c.StdoutTerminal && cli.Format(cmd) != cli.AsJSON {
				return watchScreen(cmd.Context(), c, d, q)
			}
			return watchLines(cmd.Context(), c, d, q, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().StringVar(&q.Session, "session", "", "only what happens in this `SESSION`")
	c.CompleteSession(cmd, &p)
	return cmd
}

// watchLines writes one line for each event until the command is ended.
func watchLines(ctx context.Context, c *cli.Console, d *cli.Desk, q *wire.WatchRequest, form string) error {
	st := c.OutStyle()
	told := false
	return follow(ctx, d, q, func(r *wire.WatchResponse) error {
		if !told {
			told = true
			c.Say("watching; stop with ctrl-c")
		}
		if a := r.GetAsked(); a != nil && !c.StdoutTerminal {
			a.Code = ""
		}
		if r.GetMissed() > 0 {
			c.Say("%s left out, because this terminal reads too slowly", cli.Count(int(r.GetMissed()), "event was", "events were"))
		}
		switch {
		case r.GetWhat() == nil:
			return nil // a keep-alive
		case form == cli.AsJSON:
			return c.MessageLine(r)
		}
		_, err := fmt.Fprintln(c.Stdout, EventLine(st, r))
		return err
	})
}

// follow passes on what happens. It ends without an error when ctx does. If a fleet ends the stream
// because its token has expired, follow continues with the next token.
func follow(ctx context.Context, d *cli.Desk, q *wire.WatchRequest, take func(*wire.WatchResponse) error) error {
	heard, err := followOnce(ctx, d, q, take)
	for heard && d.AtFleet() && connect.CodeOf(err) == connect.CodeUnauthenticated && ctx.Err() == nil {
		heard, err = followOnce(ctx, d, q, take)
	}
	return over(ctx, d, err)
}

// over returns why a stream has ended; nil if the person ended it.
func over(ctx context.Context, d *cli.Desk, err error) error {
	var own *cli.Failure
	left := ctx.Err() != nil || errors.Is(err, context.Canceled)
	switch {
	case errors.As(err, &own):
		return err
	case left:
		return nil
	case err != nil && !hungUp(err):
		return d.Unanswered(err)
	}
	if d.AtFleet() {
		return &cli.Failure{Code: cli.ExitNo, Text: d.Fleet.Name + " hung up", Hint: "run it again: another node may answer"}
	}
	return &cli.Failure{Code: cli.ExitNo, Text: "the monitor stopped", Hint: "start it with " + cli.Starts(d.Place)}
}

// followOnce follows one stream. It reports whether anything was received, and returns why the
// stream ended.
func followOnce(ctx context.Context, d *cli.Desk, q *wire.WatchRequest, take func(*wire.WatchResponse) error) (heard bool, err error) {
	stream, err := d.Watch(ctx, q)
	if err != nil {
		return false, err
	}
	defer stream.Close() // everything was read, or the person ended it
	for stream.Receive() {
		heard = true
		if err := take(stream.Msg()); err != nil {
			return heard, cli.Broken(err)
		}
	}
	return heard, stream.Err()
}

// EventLine formats an event on one line.
func EventLine(st cli.Style, r *wire.WatchResponse) string {
	at := st.Dim(cli.ClockTime(r.GetAt())) + " "
	switch w := r.GetWhat().(type) {
	case *wire.WatchResponse_Decided:
		word := happenedWord(w.Decided.GetDecision())
		return at + records.VerdictCell(st, w.Decided.GetDecision()).Paint(fmt.Sprintf("%-9s", cli.Plain(word))) + cli.Plain(" "+happenedText(w.Decided))
	case *wire.WatchResponse_Boxed:
		return at + st.Bold("box done ") + cli.Plain(" "+records.DecidedText(w.Boxed)+": "+w.Boxed.GetBox().GetLine())
	case *wire.WatchResponse_Asked:
		line := ""
		for _, call := range w.Asked.GetCalls() {
			if line = call.GetWhat(); line == "" {
				line = call.GetLine()
			}
		}
		return at + st.Yellow("question ") + cli.Plain(" "+line)
	case *wire.WatchResponse_Answered:
		return at + st.Bold("answered ") + cli.Plain(" "+w.Answered.GetTicket()+": "+answerWord(w.Answered.GetVerdict())+" by "+w.Answered.GetBy()+" ("+w.Answered.GetChannel()+")")
	case *wire.WatchResponse_Incident:
		return at + st.Red("incident ") + cli.Plain(" "+w.Incident.GetText()+" ("+w.Incident.GetKind()+" in "+r.GetSession()+")")
	case *wire.WatchResponse_Paused:
		word := "paused  "
		if w.Paused.GetObserve() {
			word = "observe "
		}
		return at + st.Yellow(word) + cli.Plain(" "+pausedWhat(w.Paused)+" until "+cli.Stamp(w.Paused.GetUntil())+" by "+w.Paused.GetBy())
	case *wire.WatchResponse_Resumed:
		return at + st.Bold("resumed ") + cli.Plain(fmt.Sprintf(" %s, %s: not asked %d, not refused %d", pausedWhat(w.Resumed.GetPause()), w.Resumed.GetWhy(), w.Resumed.GetAsked(), w.Resumed.GetRefused()))
	}
	return at + "(something this program does not know)"
}

// happenedWord says what happened to a call.
func happenedWord(d *wire.Decision) string {
	switch {
	case d.GetVerdict() == floodmark.Restrict.String():
		return "stopped"
	case d.GetVerdict() == floodmark.Confirm.String():
		return "asked"
	case d.GetVerdict() == floodmark.Allow.String() && d.GetReach() == floodmark.Boxed.String():
		return "contained"
	case d.GetVerdict() == floodmark.Allow.String():
		return "allowed"
	}
	return records.VerdictCell(cli.Style{}, d).Text
}

// happenedText says which agent made which call, where it went, and why it was not allowed.
func happenedText(d *wire.Decided) string {
	text, verdict := records.DecidedText(d), d.GetDecision()
	if d.GetBox().GetCommand() == "" {
		text += happenedArgs(d.GetAction().GetArguments())
	}
	if len(d.GetDecision().GetVerifiers()) > 0 || verdict.GetWould() != "" {
		text += " (" + records.VerdictCell(cli.Style{}, verdict).Text + ")"
	}
	why := records.ReasonCode(verdict)
	if reasons := verdict.GetReasons(); len(reasons) > 0 && d.GetBox() == nil && (verdict.GetVerdict() != floodmark.Allow.String() || why == string(floodmark.Audited)) {
		text += ": " + reasons[0].GetText()
	}
	return text
}

// happenedArgs returns the arguments that matter, and the hosts they lead to if their text does not
// show them.
func happenedArgs(args []*wire.Argument) string {
	text, hosts, n := "", "", 0
	for _, a := range args {
		host, _ := address.HostOf(a.GetShown())
		switch {
		case a.GetRole() == floodmark.Content.String() || a.GetShown() == "":
		case strings.HasPrefix(a.GetPath(), "url of"):
			if host != "" && !strings.Contains(text, host) && !strings.Contains(hosts, host) {
				hosts += " → " + host
			}
		case n < maxHappened:
			text += fmt.Sprintf(" “%s”", a.GetShown())
			n++
		}
	}
	return text + hosts
}

// maxHappened is how many arguments are shown in such a line.
const maxHappened = 2

// answerWord says what an answer was.
func answerWord(verdict string) string {
	switch verdict {
	case "allow":
		return "approved"
	case "restrict":
		return "denied"
	}
	return "voided"
}
