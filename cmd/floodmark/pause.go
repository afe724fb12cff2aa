package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

func newPause(c *console) *cobra.Command {
	var p place
	q := &wire.PauseRequest{}
	cmd := &cobra.Command{
		Use:   "pause TIME",
		Short: "Be left alone for a while, instead of switching the monitor off",
		Long: `Decide and write down as ever, and enforce nothing for TIME, such as 15m: what
would have been asked or refused goes through, and each decision says so. The
pause ends by itself, after 8 hours at the latest, also if the monitor is killed
meanwhile. Then «floodmark status» says once what it let through.

Some things no pause lifts: what changes an agent, its instructions or this
monitor (admin), secrets on their way out, shells whose commands nobody would
see, calls that cannot be read, and what you refused. Code that runs during a
pause can do whatever your user can do.

You must say it at a terminal that no agent was started from: neither a script
nor an agent, nor anybody on the network, can pause.`,
		Example: `  floodmark pause 15m
  floodmark pause 1h --session codex:0199
  floodmark resume`,
		Annotations: exits("it is paused", "it is not paused"),
		Args:        needs("TIME"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			d, err := time.ParseDuration(args[0])
			if err != nil || d < time.Second || d > floodmark.MaxPause {
				return refuse("write 15m, 2h or 90s; 8h is the longest", "%q is no time to pause for", shorten(args[0]))
			}
			q.Seconds = int64(d / time.Second)
			a, err := ask(cmd.Context(), c, p, (*desk).Pause, q)
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
			out.line(0, "What changes the agent or the monitor, and secrets on their way out, are held as ever. «floodmark resume"+p.flags()+"» ends the pause.")
			fmt.Fprint(c.stdout, out)
			return nil
		}),
	}
	addPlace(cmd, &p)
	cmd.Flags().StringVar(&q.Session, "session", "", "only this `SESSION`; those it begins are not among it")
	c.completeSession(cmd, &p)
	return cmd
}

func newResume(c *console) *cobra.Command {
	var p place
	q := &wire.ResumeRequest{}
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "End a pause, and say what it let through",
		Long: `End all pauses, or that of one session, and say what they let through: which calls
would have been asked about, and which refused. A session that is paused together
with all others goes on being paused until all are resumed.`,
		Example: `  floodmark resume
  floodmark resume --session codex:0199`,
		Annotations: exits("everything is enforced again", "nothing was paused"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			a, err := ask(cmd.Context(), c, p, (*desk).Resume, q)
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
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().StringVar(&q.Session, "session", "", "only the pause of this `SESSION`")
	c.completeSession(cmd, &p)
	return cmd
}

// pauseText says that a pause holds.
func pauseText(p *wire.Pause) string {
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
	if s.GetAsked()+s.GetRefused() == 0 {
		out.line(0, text+"it let nothing through that needed it.")
		return
	}
	out.line(0, text+count(int(s.GetAsked()), "question was", "questions were")+" not asked, "+count(int(s.GetRefused()), "call was", "calls were")+" not refused.")
	for _, l := range s.GetLines() {
		out.line(2, "- "+l)
	}
}
