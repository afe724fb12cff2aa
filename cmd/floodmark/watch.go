package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/wire"
)

func newWatch(c *console) *cobra.Command {
	var p place
	q := &wire.WatchRequest{}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch what happens, and answer questions",
		Long: `Show decisions, questions, answers and incidents as they happen. While somebody
watches, an agent that has to ask waits for the answer instead of being told no at
once, as long as its own patience lasts.

At a terminal you answer one call at a time, the newest first: y says yes to it, n says
no, a always here, d shows every line of it, 2 and 3 take another wider yes, ? shows the
keys. A key answers the card that you see: not one that has just come, and a yes not
before you have seen the whole call. Where one source is why you are asked, and it is
not from strangers or people outside, t trusts it as «floodmark trust» does, after it
was shown in full and you pressed enter. Anywhere else each event is one line; with
--output json one JSON object.`,
		Example: `  floodmark watch
  floodmark watch --session codex:0199
  floodmark watch --output json | jq -c 'select(.incident)'`,
		Annotations: exits("you ended it", "no monitor runs, or it stopped"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			d, err := c.deskFor(cmd.Context(), p)
			if err != nil {
				return err
			}
			defer d.end()
			if c.stdoutTerminal && format(cmd) != asJSON {
				return c.watchScreen(cmd.Context(), d, q)
			}
			return c.watchLines(cmd.Context(), d, q, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().StringVar(&q.Session, "session", "", "only what happens in this `SESSION`")
	c.completeSession(cmd, &p)
	return cmd
}

// watchLines writes one line for each event until the command is ended.
func (c *console) watchLines(ctx context.Context, d *desk, q *wire.WatchRequest, form string) error {
	st := c.outStyle()
	told := false
	return d.follow(ctx, q, func(r *wire.WatchResponse) error {
		if !told {
			told = true
			c.say("watching; end it with ctrl-c")
		}
		if a := r.GetAsked(); a != nil && !c.stdoutTerminal {
			a.Code = ""
		}
		if r.GetMissed() > 0 {
			c.say("%s left out: this was read too slowly", count(int(r.GetMissed()), "event was", "events were"))
		}
		switch {
		case r.GetWhat() == nil:
			return nil // a keep-alive
		case form == asJSON:
			return c.messageLine(r)
		}
		_, err := fmt.Fprintln(c.stdout, eventLine(st, r))
		return err
	})
}

// follow passes on what happens. It ends without an error when ctx does. If a fleet ends the stream
// because its token has expired, follow continues with the next token.
func (d *desk) follow(ctx context.Context, q *wire.WatchRequest, take func(*wire.WatchResponse) error) error {
	heard, err := d.followOnce(ctx, q, take)
	for heard && d.atFleet() && connect.CodeOf(err) == connect.CodeUnauthenticated && ctx.Err() == nil {
		heard, err = d.followOnce(ctx, q, take)
	}
	return d.over(ctx, err)
}

// over says why a stream has ended: nothing if the person ended it.
func (d *desk) over(ctx context.Context, err error) error {
	var own *failure
	left := ctx.Err() != nil || errors.Is(err, context.Canceled)
	switch {
	case errors.As(err, &own):
		return err
	case left:
		return nil
	case err != nil && !hungUp(err):
		return d.unanswered(err)
	}
	if d.atFleet() {
		return &failure{code: exitNo, text: d.fleet.Name + " hung up", hint: "run it again: another node may answer"}
	}
	return &failure{code: exitNo, text: "the monitor stopped", hint: "start it with " + starts(d.place)}
}

// followOnce reports whether anything was received, and why it ended.
func (d *desk) followOnce(ctx context.Context, q *wire.WatchRequest, take func(*wire.WatchResponse) error) (heard bool, err error) {
	stream, err := d.Watch(ctx, q)
	if err != nil {
		return false, err
	}
	defer stream.Close() // all was read, or the person ended it
	for stream.Receive() {
		heard = true
		if err := take(stream.Msg()); err != nil {
			return heard, broken(err)
		}
	}
	return heard, stream.Err()
}

// eventLine is one event on one line.
func eventLine(st style, r *wire.WatchResponse) string {
	at := st.dim(clockTime(r.GetAt())) + " "
	switch w := r.GetWhat().(type) {
	case *wire.WatchResponse_Decided:
		word := happenedWord(w.Decided.GetDecision())
		return at + verdictCell(st, w.Decided.GetDecision()).paint(fmt.Sprintf("%-9s", plain(word))) + plain(" "+happenedText(w.Decided))
	case *wire.WatchResponse_Boxed:
		return at + st.bold("box done ") + plain(" "+decidedText(w.Boxed)+": "+w.Boxed.GetBox().GetLine())
	case *wire.WatchResponse_Asked:
		line := ""
		for _, call := range w.Asked.GetCalls() {
			if line = call.GetWhat(); line == "" {
				line = call.GetLine()
			}
		}
		return at + st.yellow("question ") + plain(" "+line)
	case *wire.WatchResponse_Answered:
		return at + st.bold("answered ") + plain(" "+w.Answered.GetTicket()+": "+answerWord(w.Answered.GetVerdict())+" by "+w.Answered.GetBy()+" ("+w.Answered.GetChannel()+")")
	case *wire.WatchResponse_Incident:
		return at + st.red("incident ") + plain(" "+w.Incident.GetText()+" ("+w.Incident.GetKind()+" in "+r.GetSession()+")")
	case *wire.WatchResponse_Paused:
		word := "paused  "
		if w.Paused.GetObserve() {
			word = "observe "
		}
		return at + st.yellow(word) + plain(" "+pausedWhat(w.Paused)+" until "+stamp(w.Paused.GetUntil())+" by "+w.Paused.GetBy())
	case *wire.WatchResponse_Resumed:
		return at + st.bold("resumed ") + plain(fmt.Sprintf(" %s, %s: not asked %d, not refused %d", pausedWhat(w.Resumed.GetPause()), w.Resumed.GetWhy(), w.Resumed.GetAsked(), w.Resumed.GetRefused()))
	}
	return at + "(something this program does not know)"
}

// happenedWord says what became of a call.
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
	return verdictCell(style{}, d).text
}

// happenedText names the agent, its call, where it went, and why it was not allowed.
func happenedText(d *wire.Decided) string {
	text, verdict := decidedText(d), d.GetDecision()
	if d.GetBox().GetCommand() == "" {
		text += happenedArgs(d.GetAction().GetArguments())
	}
	if len(d.GetDecision().GetVerifiers()) > 0 || verdict.GetWould() != "" {
		text += " (" + verdictCell(style{}, verdict).text + ")"
	}
	why := reasonCode(verdict)
	if reasons := verdict.GetReasons(); len(reasons) > 0 && d.GetBox() == nil && (verdict.GetVerdict() != floodmark.Allow.String() || why == string(floodmark.Audited)) {
		text += ": " + reasons[0].GetText()
	}
	return text
}

// happenedArgs returns the arguments that matter, and hosts that cannot be seen in them.
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

// maxHappened is how many arguments stand in a line of what happened.
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
