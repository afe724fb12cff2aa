package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

func newSessions(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.SessionsRequest{}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of your agents",
		Long: `List the conversations of your agents that the monitor knows, the last one written
to first. The mark is the lowest trust and secrecy a session has ever seen: it
decides what the agent may still do. ASKED counts the calls that a person was asked
about, REFUSED those refused without a question, and BOXED the commands that ran in a
box. Names are shortened: every command takes the beginning of one if it is unique.

At a fleet, --machine lists the copies of one laptop's sessions instead, as it
uploaded them: «show», «why» and «graph» take the names they have there.`,
		Example: `  floodmark journal sessions
  floodmark journal sessions --open --agent codex
  floodmark journal sessions --machine 0123456789abcdef --fleet floodmark.firm.example
  floodmark journal sessions --limit 500 --output json`,
		Annotations: cli.Exits("they are listed", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Sessions, q)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			if len(a.GetSessions()) == 0 && q.GetMachine() != "" {
				c.Say("no session of that laptop is here")
				return nil
			}
			if len(a.GetSessions()) == 0 {
				c.Say("there are no sessions yet")
				return nil
			}
			fmt.Fprint(c.Stdout, SessionsText(c.OutStyle(), a))
			if a.GetMore() {
				c.Say("there are more; see them with --limit")
			}
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().StringVar(&q.Agent, "agent", "", "only sessions of this `AGENT`")
	cmd.Flags().StringVar(&q.Machine, "machine", "", "copies of sessions on this laptop of the fleet: its `ID` or name, as «floodmark fleet machines» lists it")
	cmd.Flags().BoolVar(&q.Open, "open", false, "only sessions that have not ended")
	cmd.Flags().Int32Var(&q.Limit, "limit", 50, "show at most this many, up to 1000")
	return cmd
}

// SessionsText formats the list for people.
func SessionsText(st cli.Style, a *wire.SessionsResponse) string {
	p := &cli.Sheet{St: st}
	head := cli.Cells("SESSION", "AGENT", "MARK", "LAST", "DECIDED", "ASKED", "REFUSED", "BOXED", "")
	for i := range head {
		head[i].Paint = st.Dim
	}
	rows := [][]cli.Cell{head}
	names := make([]string, len(a.GetSessions()))
	for i, s := range a.GetSessions() {
		names[i] = s.GetId()
	}
	for i, s := range a.GetSessions() {
		row := cli.Cells(ShortName(i, names), s.GetAgent(), cli.LabelText(s.GetMark()), cli.Stamp(s.GetWritten()), fmt.Sprint(s.GetDecisions()),
			fmt.Sprint(s.GetAsked()), fmt.Sprint(s.GetStopped()-s.GetAsked()), fmt.Sprint(s.GetBoxed()), "")
		row[2].Paint = markPaint(st, s.GetMark())
		switch {
		case s.GetIncidents() > 0:
			row[8] = cli.Cell{Text: cli.Count(int(s.GetIncidents()), "incident", "incidents"), Paint: st.Red}
		case s.GetPending() > 0:
			row[8] = cli.Cell{Text: cli.Count(int(s.GetPending()), "question", "questions"), Paint: st.Yellow}
		case forgotten(s):
			row[8] = cli.Cell{Text: "forgotten", Paint: st.Dim}
		case s.GetClosed():
			row[8] = cli.Cell{Text: "ended", Paint: st.Dim}
		}
		if s.GetProblem() != "" {
			row[8] = cli.Cell{Text: "not whole: see «show»", Paint: st.Red}
		}
		rows = append(rows, row)
	}
	p.Table(0, rows)
	return p.String()
}

// shortest is how many characters after the agent's name are shown at least.
const shortest = 8

// ShortName returns a beginning of a session's name that is unique in the list. Commands accept it
// instead of the whole name.
func ShortName(i int, names []string) string {
	name := names[i]
	n := strings.IndexByte(name, ':') + 1 + shortest
	for ; n < len(name) && !strings.Contains(name, "/"); n++ {
		if !slices.ContainsFunc(names, func(o string) bool { return o != name && strings.HasPrefix(o, name[:n]) }) {
			return strings.ToValidUTF8(name[:n], "")
		}
	}
	return name
}

// forgotten reports whether a session was erased and had no event since. Then it is unknown when it
// was opened.
func forgotten(s *wire.Session) bool { return s.GetClosed() && s.GetOpened() == nil }

// markPaint colours a mark by what it still allows.
func markPaint(st cli.Style, l *wire.Label) func(string) string {
	switch l.GetTrust() {
	case "system", "owner", "local":
		return st.Green
	case "shared", "external":
		return st.Yellow
	}
	return st.Red
}
