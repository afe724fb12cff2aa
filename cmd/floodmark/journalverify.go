package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/sqlitejournal"
	"github.com/floodmark/floodmark/internal/witness"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

func newJournalVerify(c *console) *cobra.Command {
	var p place
	var offline bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing written down was changed or lost",
		Long: `Check every chain of hashes and hold the journal against the signed checkpoints.
It says what it found, and what such a check is worth on this machine: where the
checkpoints lie in a place that your own user can write, it notices damage, but
not your own rewriting.

The running monitor does it while it goes on answering. With --offline this
program does it by itself, on the file of a monitor that does not run.`,
		Example: `  floodmark journal verify
  floodmark journal verify --output json
  floodmark journal verify --offline --dir ./try`,
		Annotations: exits("every chain is whole", "something was changed or is missing, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			check := c.verifyOnline
			if offline {
				check = c.verifyOffline
			}
			report, err := check(cmd.Context(), p)
			if err != nil {
				return err
			}
			return c.verified(report, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().BoolVar(&offline, "offline", false, "read the file itself, while no monitor runs")
	cmd.MarkFlagsMutuallyExclusive("offline", "fleet")
	return cmd
}

// verifyOnline lets the monitor check.
func (c *console) verifyOnline(ctx context.Context, p place) (*wire.VerifyReport, error) {
	d, err := c.deskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.end()
	stream, err := d.Verify(ctx, &wire.VerifyRequest{})
	if err != nil {
		return nil, d.unanswered(err)
	}
	defer stream.Close() // all was read, or an error is told already
	defer c.counted()
	for stream.Receive() {
		if r := stream.Msg().GetReport(); r != nil {
			return r, nil
		}
		at := stream.Msg().GetProgress()
		c.count(at.GetSessions(), at.GetEntries())
	}
	if err := stream.Err(); err != nil {
		return nil, d.unanswered(err)
	}
	return nil, errors.New("the monitor ended its check without a report")
}

// count shows the progress of a check, at a terminal.
func (c *console) count(sessions, entries int64) {
	if c.stderrTerminal {
		fmt.Fprintf(c.stderr, "\r%d sessions, %d entries checked", sessions, entries)
	}
}

// counted removes it.
func (c *console) counted() {
	if c.stderrTerminal {
		fmt.Fprint(c.stderr, "\r\x1b[K")
	}
}

// verifyOffline checks the file of a monitor that does not run. Opening it takes the lock, so that
// no monitor starts meanwhile.
func (c *console) verifyOffline(ctx context.Context, p place) (_ *wire.VerifyReport, err error) {
	paths, err := c.paths(p)
	if err != nil {
		return nil, err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return nil, refuse("mend the file", "%s", err)
	}
	if service.Journal.InDatabase() {
		return nil, refuse("start the monitor, and leave --offline out", "the journal is kept in a database, not in a file")
	}
	need := []string{paths.Journal, paths.Keys} // opening would make new ones
	if service.Keys != "" {
		need[1] = service.Keys
	}
	for _, file := range need {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(file, err)
		}
	}
	keys, err := config.KeysOf(service, paths, "floodmark/journal")
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	j, err := sqlitejournal.Open(ctx, paths.Journal, sqlitejournal.Options{})
	if err != nil {
		return nil, refuse("if the monitor runs, leave --offline out", "%s", err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	dir := service.Journal.Witness
	if dir == "" {
		dir = paths.Witness
	}
	return c.verifyFile(ctx, j, dir, keys)
}

func (c *console) verifyFile(ctx context.Context, j journal.Journal, dir string, keys config.Keys) (_ *wire.VerifyReport, err error) {
	heads, err := witness.Open(dir)
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	defer func() { err = errors.Join(err, heads.Close()) }()
	apart, err := witness.Apart(dir, os.Getuid())
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	evidence := journal.Evidence{Log: heads, Keys: keys.Signing.Verifiers(), Apart: apart}
	defer c.counted()
	r, err := journal.Verify(ctx, j, evidence, func(r journal.Report) { c.count(r.Sessions, r.Entries) })
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	report := &wire.VerifyReport{
		Ok: r.OK(), Sessions: r.Sessions, Entries: r.Entries, Erased: r.Erased, Checkpoints: r.Checkpoints, Limits: []string{r.Worth},
	}
	for _, f := range r.Findings {
		report.Problems = append(report.Problems, f.Text)
	}
	return report, nil
}

// verified tells what a check found.
func (c *console) verified(r *wire.VerifyReport, form string) error {
	if form == asJSON {
		if err := c.message(r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.stdout, verifyText(c.outStyle(), r))
	}
	if !r.GetOk() {
		return errNo
	}
	return nil
}

// foundText says what problems mean. If the only one is that reading stopped, it is unknown whether
// the journal was changed.
func foundText(problems []string) string {
	if len(problems) == 1 && strings.HasPrefix(problems[0], "the check could not be finished") {
		return "The journal could not be checked"
	}
	return "The journal is not what was written"
}

// verifyText is the report for people.
func verifyText(st style, r *wire.VerifyReport) string {
	p := &sheet{st: st}
	checked := fmt.Sprintf("%s with %s, against %s", count(int(r.GetSessions()), "session", "sessions"),
		count(int(r.GetEntries()), "entry", "entries"), count(int(r.GetCheckpoints()), "signed checkpoint", "signed checkpoints"))
	if r.GetOk() {
		p.painted(0, "Every chain is whole: "+checked+".", st.green)
	} else {
		p.painted(0, foundText(r.GetProblems())+": "+checked+".", st.red)
		for _, one := range r.GetProblems() {
			p.line(2, "- "+one)
		}
	}
	if r.GetErased() > 0 {
		p.line(0, count(int(r.GetErased()), "session was", "sessions were")+" erased, in part or whole; signed tombstones stand there.")
	}
	for _, l := range r.GetLimits() {
		p.line(0, l)
	}
	return p.String()
}
