package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/agents/transcript"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/wire"
)

func newCoverage(c *cli.Console) *cobra.Command {
	var p cli.Place
	var since string
	cmd := &cobra.Command{
		Use:   "coverage [AGENT]",
		Short: "Find calls of your agents that ran without being judged",
		Long: `Read the transcripts that your agents write, and compare every tool call in them
with the journal. A call that ran without a decision, or although it was refused, is
an incident: it is listed, recorded and counted in «floodmark status». Sessions in
which no call was judged come first: they ran without our hooks.

Transcripts of claude-code, codex, gemini-cli, openclaw, opencode and pi are
understood. A call that is not in a transcript cannot be found. Calls from before an
agent was watched are counted and are no incidents.`,
		Example: `  floodmark journal coverage
  floodmark journal coverage codex
  floodmark journal coverage --since 7d
  floodmark journal coverage --output json | jq '.agents[].findings'`,
		Annotations: cli.Exits("every call that ran was judged", "a call ran unseen, or no monitor runs"),
		Args:        cobra.MaximumNArgs(1),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			from, err := sinceTime(since, c.Clock())
			if err != nil {
				return err
			}
			return coverage(cmd.Context(), c, p, args, from, cli.Format(cmd))
		}),
		ValidArgs: transcript.Agents(),
	}
	cli.AddPlace(cmd, &p)
	cmd.Flags().StringVar(&since, "since", "", "leave out what is older than this `TIME`: 7d, 12h or 30m")
	return cmd
}

func coverage(ctx context.Context, c *cli.Console, p cli.Place, agents []string, since time.Time, form string) error {
	if len(agents) == 1 && !slices.Contains(transcript.Agents(), agents[0]) {
		return cli.Refuse("name one of "+strings.Join(transcript.Agents(), ", "), "transcripts of %q are not known", agents[0])
	}
	if len(agents) == 0 {
		agents = transcript.Agents()
	}
	d, err := c.Desk(p)
	if err != nil {
		return err
	}
	defer d.End()
	var list []transcript.Coverage
	written := int64(0)
	for _, agent := range agents {
		one, err := cover(ctx, c, d, agent, since)
		if err != nil {
			return err
		}
		if len(one.Reports) == 0 && len(one.Failed) == 0 && len(agents) > 1 {
			continue
		}
		n, err := report(ctx, d, one)
		if err != nil {
			return err
		}
		written += n
		list = append(list, one)
	}
	report := transcript.Summarise(list, written)
	if form == cli.AsJSON {
		err = c.JSON(report)
	} else {
		fmt.Fprint(c.Stdout, coverageText(c.OutStyle(), report))
	}
	if err == nil && report.Unseen > 0 {
		return cli.ErrNo
	}
	return err
}

// folders returns where this user's agents keep their transcripts.
func folders(c *cli.Console) transcript.Folders {
	return transcript.Folders{
		Home: c.Getenv("HOME"), Claude: c.Getenv("CLAUDE_CONFIG_DIR"), Codex: c.Getenv("CODEX_HOME"),
		OpenClaw: c.Getenv("OPENCLAW_STATE_DIR"), Pi: c.Getenv("PI_CODING_AGENT_DIR"), Data: c.Getenv("XDG_DATA_HOME"),
	}
}

func cover(ctx context.Context, c *cli.Console, d *cli.Desk, agent string, since time.Time) (transcript.Coverage, error) {
	began, err := watched(ctx, d, agent)
	if err != nil {
		return transcript.Coverage{}, err
	}
	m, err := c.Machine(d.Place)
	if err != nil {
		return transcript.Coverage{}, err
	}
	// The worst case is an agent whose hooks are installed but never called.
	if at := m.Since(agent); began.IsZero() || !at.IsZero() && at.Before(began) {
		began = at
	}
	seen := map[string]*transcript.Record{}
	got, err := transcript.Cover(transcript.Question{
		Agent: agent, In: folders(c), Since: since, Began: began,
		Look: func(name string) (*transcript.Record, error) {
			if r, ok := seen[name]; ok {
				return r, nil
			}
			r, err := record(ctx, d, agent+":"+name)
			seen[name] = r
			return r, err
		},
	})
	if err != nil {
		if _, ok := errors.AsType[*cli.Failure](err); ok {
			return transcript.Coverage{}, err
		}
		return transcript.Coverage{}, cli.Refuse("check that you may read it", "%s", err)
	}
	return got, nil
}

// watched returns when an agent first reported; zero if it never did.
func watched(ctx context.Context, d *cli.Desk, agent string) (time.Time, error) {
	const most = 1000
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	all, err := d.Sessions(ctx, &wire.SessionsRequest{Agent: agent, Limit: most})
	if err != nil {
		return time.Time{}, d.Unanswered(err)
	}
	var first time.Time
	for _, s := range all.GetSessions() {
		at := s.GetOpened()
		if at == nil {
			at = s.GetWritten() // the session was erased
		}
		if first.IsZero() || at.AsTime().Before(first) {
			first = at.AsTime()
		}
	}
	return first, nil
}

// record returns what the journal has of one session; nil if nothing.
func record(ctx context.Context, d *cli.Desk, session string) (*transcript.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	stream, err := d.Export(ctx, &wire.ExportRequest{Session: session})
	if err != nil {
		return nil, d.Unanswered(err)
	}
	defer stream.Close() // everything was read, or the error was already reported
	var r *transcript.Record
	for stream.Receive() {
		m := stream.Msg()
		if r == nil {
			r = &transcript.Record{}
		}
		if t := m.GetTombstone(); t != nil && t.GetSession() == session {
			r.Erased = time.Unix(0, t.GetAt())
			r.Opened = r.Erased
			continue
		}
		e := m.GetEntry()
		if e.GetSession() != session {
			return nil, nil // another session whose name begins the same
		}
		if err := take(r, e); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		if code := connect.CodeOf(err); code == connect.CodeNotFound || code == connect.CodeInvalidArgument {
			return nil, nil
		}
		return nil, d.Unanswered(err)
	}
	return r, nil
}

// take adds one entry to a record.
func take(r *transcript.Record, e *wire.Entry) error {
	if r.Opened.IsZero() {
		r.Opened = time.Unix(0, e.GetAt())
	}
	f, err := factjson.Decode(e.GetKind(), []byte(e.GetBody()))
	if err != nil {
		return err
	}
	r.Take(f)
	return nil
}

// report has the monitor record the findings.
func report(ctx context.Context, d *cli.Desk, one transcript.Coverage) (written int64, err error) {
	for _, r := range one.Reports {
		list := incidents(one.Agent, r)
		for part := range slices.Chunk(list, 500) {
			ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
			a, err := d.Report(ctx, &wire.ReportRequest{Session: transcript.SessionName(one.Agent, r), Incidents: part})
			cancel()
			if err != nil {
				return written, d.Unanswered(err)
			}
			written += a.GetWritten()
		}
	}
	return written, nil
}

func incidents(agent string, r transcript.Report) (list []*wire.Incident) {
	for _, f := range r.Findings {
		i := &wire.Incident{Kind: f.Kind, Call: f.Call.ID, Text: f.Text(), Tool: &wire.ToolRef{Agent: agent, Name: f.Call.Tool}}
		if f.Kind == transcript.Unseen {
			i.Call = "" // only one incident for each session, however many calls follow
		}
		list = append(list, i)
	}
	return list
}

// coverageText formats the answer for people.
func coverageText(st cli.Style, r transcript.Summary) string {
	p := &cli.Sheet{St: st}
	switch {
	case len(r.Agents) == 0:
		p.Title("No agent has written a transcript here.")
	case r.Unseen > 0:
		p.Title(cli.Count(r.Unseen, "call", "calls") + " ran that were not allowed.")
	default:
		p.Title("Every call that ran since Floodmark began to watch was judged.")
	}
	for _, a := range r.Agents {
		p.Title(a.Agent)
		for _, f := range a.Findings {
			p.Painted(2, findingLine(f), st.Red)
			if f.Kind == transcript.Unseen {
				p.Line(6, "hint: check that its hooks are installed and trusted, then restart the agent («floodmark doctor»)")
			}
		}
		for _, line := range a.Lines() {
			p.Line(2, line)
		}
	}
	return p.String()
}

func findingLine(f transcript.Found) string {
	line := f.Session + ", " + f.At.Local().Format("2006-01-02 15:04:05") + ": " + f.Text
	if f.Kind == transcript.Unseen {
		return "NOT WATCHED " + line
	}
	return line
}
