package asking

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// NewPause is the command «floodmark pause».
func NewPause(c *cli.Console) *cobra.Command {
	var p cli.Place
	var session string
	var end, observe bool
	cmd := &cobra.Command{
		Use:   "pause TIME | --end",
		Short: "Be left alone for a while, or only observe",
		Long: `Go on deciding and recording, but enforce nothing for TIME, such as 15m: calls that
would have been asked about or refused run, and each decision says so. The pause
ends by itself, after 8 hours at the latest, even if the monitor is killed
meanwhile. Then «floodmark status» says once what the pause let through.

Some things no pause lifts: what changes an agent, its instructions or this
monitor (admin), secrets on their way out, shells whose commands would go unseen,
calls that cannot be read, and what you refused. Code that runs during a pause can
do all that your user can do.

With --observe you see what the monitor would do, for 14 days at most: nothing is
held and nothing runs in a box, and secrets can leave. Everything is recorded and
labelled as usual, and «floodmark journal report» says in words what would have been
stopped, contained and asked about. Only calls that would switch this monitor off,
or start an agent without it, are held: those that touch its files, the agents' own
settings, or the start files of your shell. What you approve meanwhile is valid only
while you observe.

Only you can pause, at a terminal that no agent started: no script, no agent, no
caller on the network and no project's rules can.

With --end all pauses end, or only that of one session, and you see what they let
through. A session that was paused together with all others stays paused until all
pauses end.`,
		Example: `  floodmark pause 15m
  floodmark pause 1h --session codex:0199
  floodmark pause --observe 24h
  floodmark pause --end`,
		Annotations: cli.Exits("it is paused, or with --end everything is enforced again", "it could not be paused, or nothing was paused"),
		Args: func(cmd *cobra.Command, args []string) error {
			if end {
				return cobra.NoArgs(cmd, args)
			}
			return cli.Needs("TIME")(cmd, args)
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if end {
				return endPause(c, cmd, p, session)
			}
			return pause(c, cmd, p, session, args[0], observe)
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().BoolVar(&end, "end", false, "end pauses, and show what they let through")
	cmd.Flags().BoolVar(&observe, "observe", false, "enforce nothing, and record what would have been stopped; 14 days at most")
	cmd.MarkFlagsMutuallyExclusive("end", "observe")
	cmd.Flags().StringVar(&session, "session", "", "only this `SESSION`, not the sessions that it starts")
	c.CompleteSession(cmd, &p)
	return cmd
}

// pause begins a pause.
func pause(c *cli.Console, cmd *cobra.Command, p cli.Place, session, text string, observe bool) error {
	kind := floodmark.Pause{Observe: observe}
	d, err := pauseTime(text)
	switch {
	case err == nil && d >= time.Second && d <= kind.Most():
	case observe:
		return cli.Refuse("write 24h or 7d; 14d is the longest", "%q is not a time to observe for", cli.Shorten(text))
	default:
		return cli.Refuse("write 15m, 2h or 90s; 8h is the longest", "%q is not a time to pause for", cli.Shorten(text))
	}
	if p.Fleet != "" {
		return cli.Refuse("only --end takes --fleet", "a pause cannot be set over the network")
	}
	if observe && !observes(c, text) {
		c.Say("nothing was changed")
		return cli.ErrNo
	}
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Pause, &wire.PauseRequest{Session: session, Seconds: int64(d / time.Second), Observe: observe})
	if err != nil {
		return err
	}
	if cli.Format(cmd) == cli.AsJSON {
		return c.Message(a)
	}
	out := &cli.Sheet{St: c.OutStyle()}
	if a.GetReplaced() != nil {
		summaryText(out, a.GetReplaced())
	}
	out.Painted(0, PauseText(a.GetPause())+".", out.St.Yellow)
	next := "What changes the agent or the monitor, and secrets on their way out, are held as ever."
	if observe {
		next = "Only what would switch the monitor off, or start an agent without it, is held. «floodmark journal report" + p.Flags() + "» says what would have been."
	}
	out.Line(0, next+" «floodmark pause --end"+p.Flags()+"» ends it.")
	fmt.Fprint(c.Stdout, out)
	return nil
}

// pauseTime reads a duration, also one in days.
func pauseTime(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// observes asks the owner to confirm. Without a terminal the answer is no.
func observes(c *cli.Console, text string) bool {
	if !c.StdinTerminal {
		return false
	}
	c.Say("For %s nothing will be held or boxed: all that your agents run has your rights, and secrets can leave this machine.", text)
	fmt.Fprint(c.Stderr, "Only observe? [y/N] ")
	answer, err := bufio.NewReader(io.LimitReader(c.Stdin, 64)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(c.Stderr)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// endPause ends all pauses, or only that of a session.
func endPause(c *cli.Console, cmd *cobra.Command, p cli.Place, session string) error {
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Resume, &wire.ResumeRequest{Session: session})
	if err != nil {
		return err
	}
	if cli.Format(cmd) == cli.AsJSON {
		if err := c.Message(a); err != nil {
			return err
		}
	} else {
		out := &cli.Sheet{St: c.OutStyle()}
		for _, sum := range a.GetEnded() {
			summaryText(out, sum)
		}
		fmt.Fprint(c.Stdout, out)
	}
	if len(a.GetEnded()) == 0 {
		c.Say("nothing was paused")
		return cli.ErrNo
	}
	return nil
}

// PauseText says that a pause is in effect.
func PauseText(p *wire.Pause) string {
	if p.GetObserve() {
		return "Only observing until " + cli.Stamp(p.GetUntil()) + ", " + pausedWhat(p) + ": nothing is held or boxed, secrets included; the rules hold again by themselves then"
	}
	return "Paused until " + cli.Stamp(p.GetUntil()) + ", " + pausedWhat(p) + ": decisions are written down and not enforced"
}

func pausedWhat(p *wire.Pause) string {
	if p.GetSession() == "" {
		return "all sessions"
	}
	return "session " + p.GetSession()
}

// summaryText prints what a pause let through.
func summaryText(out *cli.Sheet, s *wire.PauseSummary) {
	text := "The pause of " + pausedWhat(s.GetPause()) + " is over (" + s.GetWhy() + "): "
	if s.GetPause().GetObserve() {
		text = "You observe no longer (" + s.GetWhy() + "), and the rules hold again for " + pausedWhat(s.GetPause()) + ": "
	}
	if s.GetAsked()+s.GetRefused() == 0 {
		out.Line(0, text+"it let nothing through that needed it.")
		return
	}
	out.Line(0, text+cli.Count(int(s.GetAsked()), "question was", "questions were")+" not asked, "+cli.Count(int(s.GetRefused()), "call was", "calls were")+" not refused.")
	for _, l := range s.GetLines() {
		out.Line(2, "- "+l)
	}
}
