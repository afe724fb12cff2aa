package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/internal/store/witness"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

func newJournalVerify(c *cli.Console) *cobra.Command {
	var p cli.Place
	var offline bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing written down was changed or lost",
		Long: `Check every chain of hashes, and compare the journal with the signed checkpoints.
The command says what it found, and how much the check proves on this machine: if
your own user can write to the checkpoints, it detects damage, but not rewriting by
your own user.

The running monitor does the check while it goes on answering. With --offline this
program does it, on the file of a monitor that does not run.`,
		Example: `  floodmark journal verify
  floodmark journal verify --output json
  floodmark journal verify --offline --dir ./try`,
		Annotations: cli.Exits("every chain is whole", "something was changed or is missing, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			check := func(ctx context.Context, p cli.Place) (*wire.VerifyReport, error) { return verifyOnline(ctx, c, p) }
			if offline {
				check = func(a0 context.Context, a1 cli.Place) (_ *wire.VerifyReport, err error) {
					return verifyOffline(a0, c, a1)
				}
			}
			report, err := check(cmd.Context(), p)
			if err != nil {
				return err
			}
			return verified(c, report, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().BoolVar(&offline, "offline", false, "read the file itself, while no monitor runs")
	cmd.MarkFlagsMutuallyExclusive("offline", "fleet")
	return cmd
}

// verifyOnline has the monitor check its journal.
func verifyOnline(ctx context.Context, c *cli.Console, p cli.Place) (*wire.VerifyReport, error) {
	d, err := c.DeskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.End()
	stream, err := d.Verify(ctx, &wire.VerifyRequest{})
	if err != nil {
		return nil, d.Unanswered(err)
	}
	defer stream.Close() // everything was read, or the error was already reported
	defer counted(c)
	for stream.Receive() {
		if r := stream.Msg().GetReport(); r != nil {
			return r, nil
		}
		at := stream.Msg().GetProgress()
		count(c, at.GetSessions(), at.GetEntries())
	}
	if err := stream.Err(); err != nil {
		return nil, d.Unanswered(err)
	}
	return nil, errors.New("the monitor ended its check without a report")
}

// count shows the progress of a check, at a terminal.
func count(c *cli.Console, sessions, entries int64) {
	if c.StderrTerminal {
		fmt.Fprintf(c.Stderr, "\r%d sessions, %d entries checked", sessions, entries)
	}
}

// counted removes the progress from the terminal.
func counted(c *cli.Console) {
	if c.StderrTerminal {
		fmt.Fprint(c.Stderr, "\r\x1b[K")
	}
}

// verifyOffline checks the journal file of a monitor that is not running. Opening the file takes
// its lock, so that no monitor can start during the check.
func verifyOffline(ctx context.Context, c *cli.Console, p cli.Place) (_ *wire.VerifyReport, err error) {
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return nil, cli.Refuse("mend the file", "%s", err)
	}
	if service.Journal.InDatabase() {
		return nil, cli.Refuse("start the monitor, and leave --offline out", "the journal is kept in a database, not in a file")
	}
	need := []string{paths.Journal, paths.Keys} // opening would make them if they were missing
	if service.Keys != "" {
		need[1] = service.Keys
	}
	for _, file := range need {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, cli.Unreadable(file, err)
		}
	}
	keys, err := config.KeysOf(service, paths, "floodmark/journal")
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	j, err := sqlitejournal.Open(ctx, paths.Journal, sqlitejournal.Options{})
	if err != nil {
		return nil, cli.Refuse("if the monitor runs, leave --offline out", "%s", err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	dir := service.Journal.Witness
	if dir == "" {
		dir = paths.Witness
	}
	return verifyFile(ctx, c, j, dir, keys)
}

func verifyFile(ctx context.Context, c *cli.Console, j journal.Journal, dir string, keys config.Keys) (_ *wire.VerifyReport, err error) {
	heads, err := witness.Open(dir)
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	defer func() { err = errors.Join(err, heads.Close()) }()
	apart, err := witness.Apart(dir, os.Getuid())
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	evidence := journal.Evidence{Log: heads, Keys: keys.Signing.Verifiers(), Apart: apart}
	defer counted(c)
	r, err := journal.Verify(ctx, j, evidence, func(r journal.Report) { count(c, r.Sessions, r.Entries) })
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	report := &wire.VerifyReport{
		Ok: r.OK(), Sessions: r.Sessions, Entries: r.Entries, Erased: r.Erased, Checkpoints: r.Checkpoints, Limits: []string{r.Worth},
	}
	for _, f := range r.Findings {
		report.Problems = append(report.Problems, f.Text)
	}
	return report, nil
}

// verified prints what a check found.
func verified(c *cli.Console, r *wire.VerifyReport, form string) error {
	if form == cli.AsJSON {
		if err := c.Message(r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.Stdout, VerifyText(c.OutStyle(), r))
	}
	if !r.GetOk() {
		return cli.ErrNo
	}
	return nil
}

// foundText says what problems mean. If the only problem is that reading stopped, it is unknown
// whether the journal was changed.
func foundText(problems []string) string {
	if len(problems) == 1 && strings.HasPrefix(problems[0], "the check could not be finished") {
		return "The journal could not be checked"
	}
	return "The journal was changed after it was written"
}

// VerifyText formats the report for people.
func VerifyText(st cli.Style, r *wire.VerifyReport) string {
	p := &cli.Sheet{St: st}
	checked := fmt.Sprintf("%s with %s, against %s", cli.Count(int(r.GetSessions()), "session", "sessions"),
		cli.Count(int(r.GetEntries()), "entry", "entries"), cli.Count(int(r.GetCheckpoints()), "signed checkpoint", "signed checkpoints"))
	if r.GetOk() {
		p.Painted(0, "Every chain is whole: "+checked+".", st.Green)
	} else {
		p.Painted(0, foundText(r.GetProblems())+": "+checked+".", st.Red)
		for _, one := range r.GetProblems() {
			p.Line(2, "- "+one)
		}
	}
	if r.GetErased() > 0 {
		p.Line(0, cli.Count(int(r.GetErased()), "session was", "sessions were")+" erased, in part or whole; signed tombstones take their place.")
	}
	for _, l := range r.GetLimits() {
		p.Line(0, l)
	}
	return p.String()
}
