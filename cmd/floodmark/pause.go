package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

func newPause(c *console) *cobra.Command {
	var p place
	var session string
	var end, observe bool
	cmd := &cobra.Command{
		Use:   "pause TIME | --end",
		Short: "Be left alone for a while, or only observe",
		Long: `Decide and write down as ever, and enforce nothing for TIME, such as 15m: what
would have been asked or refused goes through, and each decision says so. The
pause ends by itself, after 8 hours at the latest, also if the monitor is killed
meanwhile. Then «floodmark status» says once what it let through.

Some things no pause lifts: what changes an agent, its instructions or this
monitor (admin), secrets on their way out, shells whose commands would go unseen,
calls that cannot be read, and what you refused. Code that runs during a pause can
do all that your user can do.

With --observe you look before you trust, for 14 days at most: nothing is held and
nothing runs in a box, also no secret on its way out. Everything is noted and
labelled as ever, and «floodmark journal report» says in words what would have been
stopped, contained and asked. Only what would switch this monitor off, or start an
agent without it, is held: its files, the agents' own settings, the start files of
your shell. What you approve meanwhile holds no longer than you observe.

You must say it at a terminal that no agent was started from: no script, no agent, no
caller on the network and no project's rules can pause.

With --end all pauses end, or that of one session, and you see what they let
through. A session that is paused together with all others goes on being paused
until all are ended.`,
		Example: `  floodmark pause 15m
  floodmark pause 1h --session codex:0199
  floodmark pause --observe 24h
  floodmark pause --end`,
		Annotations: exits("it is paused, or with --end everything is enforced again", "it is not, or nothing was paused"),
		Args: func(cmd *cobra.Command, args []string) error {
			if end {
				return cobra.NoArgs(cmd, args)
			}
			return needs("TIME")(cmd, args)
		},
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if end {
				return c.endPause(cmd, p, session)
			}
			return c.pause(cmd, p, session, args[0], observe)
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().BoolVar(&end, "end", false, "end pauses, and say what they let through")
	cmd.Flags().BoolVar(&observe, "observe", false, "hold and box nothing, and note what would have been; 14 days at most")
	cmd.MarkFlagsMutuallyExclusive("end", "observe")
	cmd.Flags().StringVar(&session, "session", "", "only this `SESSION`; those it begins are not among it")
	c.completeSession(cmd, &p)
	return cmd
}

// pause begins a pause.
func (c *console) pause(cmd *cobra.Command, p place, session, text string, observe bool) error {
	kind := floodmark.Pause{Observe: observe}
	d, err := pauseTime(text)
	switch {
	case err == nil && d >= time.Second && d <= kind.Most():
	case observe:
		return refuse("write 24h or 7d; 14d is the longest", "%q is no time to observe for", shorten(text))
	default:
		return refuse("write 15m, 2h or 90s; 8h is the longest", "%q is no time to pause for", shorten(text))
	}
	if p.fleet != "" {
		return refuse("only --end takes --fleet", "a pause cannot be set over the network")
	}
	if observe && !c.observes(text) {
		c.say("nothing was changed")
		return errNo
	}
	a, err := ask(cmd.Context(), c, p, (*desk).Pause, &wire.PauseRequest{Session: session, Seconds: int64(d / time.Second), Observe: observe})
	if err != nil {
		return err
	}
	if format(cmd) == asJSON {
		return c.message(a)
	}
	out := &sheet{st: c.outStyle()}
	if a.GetReplaced() != nil {
		summaryText(out, a.GetReplaced())
	}
	out.painted(0, pauseText(a.GetPause())+".", out.st.yellow)
	next := "What changes the agent or the monitor, and secrets on their way out, are held as ever."
	if observe {
		next = "Only what would switch the monitor off, or start an agent without it, is held. «floodmark journal report" + p.flags() + "» says what would have been."
	}
	out.line(0, next+" «floodmark pause --end"+p.flags()+"» ends it.")
	fmt.Fprint(c.stdout, out)
	return nil
}

// pauseTime reads a duration that may be in days.
func pauseTime(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// observes asks the owner to confirm. Without a terminal the answer is no.
func (c *console) observes(text string) bool {
	if !c.stdinTerminal {
		return false
	}
	c.say("For %s nothing will be held or boxed: all that your agents run has your rights, and secrets can leave this machine.", text)
	fmt.Fprint(c.stderr, "Only observe? [y/N] ")
	answer, err := bufio.NewReader(io.LimitReader(c.stdin, 64)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(c.stderr)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// endPause ends all pauses, or that of a session.
func (c *console) endPause(cmd *cobra.Command, p place, session string) error {
	a, err := ask(cmd.Context(), c, p, (*desk).Resume, &wire.ResumeRequest{Session: session})
	if err != nil {
		return err
	}
	if format(cmd) == asJSON {
		if err := c.message(a); err != nil {
			return err
		}
	} else {
		out := &sheet{st: c.outStyle()}
		for _, sum := range a.GetEnded() {
			summaryText(out, sum)
		}
		fmt.Fprint(c.stdout, out)
	}
	if len(a.GetEnded()) == 0 {
		c.say("nothing was paused")
		return errNo
	}
	return nil
}

// pauseText says that a pause holds.
func pauseText(p *wire.Pause) string {
	if p.GetObserve() {
		return "Only observing until " + stamp(p.GetUntil()) + ", " + pausedWhat(p) + ": nothing is held or boxed, secrets included; the rules hold again by themselves then"
	}
	return "Paused until " + stamp(p.GetUntil()) + ", " + pausedWhat(p) + ": decisions are written down and not enforced"
}

func pausedWhat(p *wire.Pause) string {
	if p.GetSession() == "" {
		return "all sessions"
	}
	return "session " + p.GetSession()
}

// summaryText says what a pause let through.
func summaryText(out *sheet, s *wire.PauseSummary) {
	text := "The pause of " + pausedWhat(s.GetPause()) + " is over (" + s.GetWhy() + "): "
	if s.GetPause().GetObserve() {
		text = "You observe no longer (" + s.GetWhy() + "), and the rules hold again for " + pausedWhat(s.GetPause()) + ": "
	}
	if s.GetAsked()+s.GetRefused() == 0 {
		out.line(0, text+"it let nothing through that needed it.")
		return
	}
	out.line(0, text+count(int(s.GetAsked()), "question was", "questions were")+" not asked, "+count(int(s.GetRefused()), "call was", "calls were")+" not refused.")
	for _, l := range s.GetLines() {
		out.line(2, "- "+l)
	}
}
