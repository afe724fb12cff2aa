// Package records contains the commands that show what was recorded.
package records

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/store/postgresjournal"
	"github.com/floodmark/floodmark/wire"
)

// NewJournal is the command «floodmark journal».
func NewJournal(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Look at sessions; check, read and erase what was written down",
		Long: `The journal keeps every fact a decision rests on. The entries of a session form a
chain of hashes, and which entry is the last is signed apart from the journal, so
that a change or a loss is noticed.`,
		Example: `  floodmark journal sessions
  floodmark journal verify
  floodmark journal entries codex:0199
  floodmark journal export > journal.jsonl`,
	}
	cmd.AddCommand(newJournalVerify(c), newJournalEntries(c), newJournalExport(c), newJournalForget(c), newJournalInit(c), newJournalMonths(c), newJournalKeys(c),
		newSessions(c), newShow(c), newGraph(c), newStats(c), newReport(c), newCoverage(c))
	return cmd
}

func newJournalEntries(c *cli.Console) *cobra.Command {
	var p cli.Place
	var after uint64
	cmd := &cobra.Command{
		Use:   "entries SESSION",
		Short: "Print the entries of one session",
		Long: `Print what was written down in one session, in order: number, time, the beginning
of its hash, the kind of fact, the fact. With --output json each line is one
entry, with its whole hash and that of the entry before it.`,
		Example: `  floodmark journal entries codex:0199
  floodmark journal entries codex:0199 --after 120
  floodmark journal entries codex:0199 --output json | jq -r .kind`,
		Annotations: cli.Exits("it is printed", "no monitor runs"),
		Args:        cli.Needs("SESSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.ExportRequest{Session: args[0], After: after}
			if cli.Format(cmd) == cli.AsJSON {
				return entries(cmd.Context(), c, p, q, func(r *wire.ExportResponse) error { return c.MessageLine(piece(r)) })
			}
			return entries(cmd.Context(), c, p, q, func(r *wire.ExportResponse) error {
				_, err := fmt.Fprintln(c.Stdout, cli.Plain(pieceText(r)))
				return err
			})
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().Uint64Var(&after, "after", 0, "only entries behind this `NUMBER`")
	return cmd
}

func newJournalExport(c *cli.Console) *cobra.Command {
	var p cli.Place
	var file string
	cmd := &cobra.Command{
		Use:   "export [SESSION]",
		Short: "Take the journal out, one JSON object a line",
		Long: `Write the entries of one session, or of all, as one JSON object a line: session by
session, in order, each with its hash and that of the entry before it, so that
every reader can check the chain. Where entries were erased, the signed tombstone that
stands there comes first. The bodies are as they were hashed.`,
		Example: `  floodmark journal export > journal.jsonl
  floodmark journal export codex:0199 --file session.jsonl`,
		Annotations: cli.Exits("it is written", "no monitor runs"),
		Args:        cobra.MaximumNArgs(1),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.ExportRequest{Session: strings.Join(args, "")}
			if file == "" {
				return entries(cmd.Context(), c, p, q, func(r *wire.ExportResponse) error { return c.MessageLine(piece(r)) })
			}
			return exportFile(cmd.Context(), c, p, q, file)
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().StringVar(&file, "file", "", "write to this new `FILE` instead of standard output")
	return cmd
}

// entries passes on the messages of an export, one by one.
func entries(ctx context.Context, c *cli.Console, p cli.Place, q *wire.ExportRequest, take func(*wire.ExportResponse) error) error {
	d, err := c.DeskFor(ctx, p)
	if err != nil {
		return err
	}
	defer d.End()
	stream, err := d.Export(ctx, q)
	if err != nil {
		return d.Unanswered(err)
	}
	defer stream.Close() // everything was read, or the error was already reported
	for stream.Receive() {
		if err := take(stream.Msg()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return d.Unanswered(err)
	}
	return nil
}

// exportFile writes an export to a new file that others cannot read. If the export fails, the file
// is removed.
func exportFile(ctx context.Context, c *cli.Console, p cli.Place, q *wire.ExportRequest, name string) error {
	f, err := os.OpenFile(c.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cli.Refuse("name a new file where you may write", "write %s: %s", name, cli.Reason(err))
	}
	out := bufio.NewWriter(f)
	n := 0
	err = entries(ctx, c, p, q, func(r *wire.ExportResponse) error {
		data, err := cli.MessageJSON(piece(r))
		if err != nil {
			return err
		}
		n++
		if _, err := out.Write(append(data, '\n')); err != nil {
			return cli.Refuse("check that there is room", "write %s: %s", name, cli.Reason(err))
		}
		return nil
	})
	if end := errors.Join(out.Flush(), f.Sync(), f.Close()); err == nil && end != nil {
		err = cli.Refuse("check that there is room", "write %s: %s", name, cli.Reason(end))
	}
	if err != nil {
		return errors.Join(err, os.Remove(c.Path(name)))
	}
	c.Say("wrote %s to %s", cli.Count(n, "line", "lines"), name)
	return nil
}

// piece returns the tombstone or the entry in a message of an export.
func piece(r *wire.ExportResponse) proto.Message {
	if t := r.GetTombstone(); t != nil {
		return t
	}
	return r.GetEntry()
}

func pieceText(r *wire.ExportResponse) string {
	if t := r.GetTombstone(); t != nil {
		return fmt.Sprintf("#1-#%d erased (%s), %s", t.GetSeq(), t.GetWhy(), cli.Short(t.GetHash()))
	}
	return entryText(r.GetEntry())
}

func newJournalForget(c *cli.Console) *cobra.Command {
	var p cli.Place
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget SESSION",
		Short: "Erase what was kept of a session, for good",
		Long: `Erase what was written down in one session. It cannot be brought back. A signed
tombstone with the last hash and the mark stays, so that «floodmark journal
verify» stays green and says what is gone, and a session that is resumed does not
begin with a clean mark.

SESSION is the whole name; at a fleet also laptop/MACHINE/SESSION, the copy of a
session on a laptop, which stays as it is there. At a terminal you are asked to
type it again; a script says --yes.`,
		Example: `  floodmark journal forget codex:0199aabb-ccdd
  floodmark journal forget codex:0199aabb-ccdd --yes`,
		Annotations: cli.Exits("it is erased", "nothing was erased"),
		Args:        cli.Needs("SESSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if err := sure(c, args[0], yes); err != nil {
				return err
			}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Forget, &wire.ForgetRequest{Session: args[0]})
			if err != nil {
				return err
			}
			notice := fmt.Sprintf("Erased: %s of %s.", cli.Count(int(a.GetTombstone().GetSeq()), "entry", "entries"), args[0])
			return c.Outcome(cli.Format(cmd), true, notice, func() error { return c.Message(a) })
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// sure asks the person before something that cannot be undone.
func sure(c *cli.Console, name string, yes bool) error {
	if yes {
		return nil
	}
	if !c.StderrTerminal {
		return cli.Refuse("say --yes if you are sure", "erasing %s cannot be undone, and there is no terminal to ask at", name)
	}
	fmt.Fprintf(c.Stderr, "This cannot be undone. Type the session's name to erase it: ")
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return cli.Unreadable("standard input", err)
	}
	if strings.TrimSpace(line) != name {
		return &cli.Failure{Code: cli.ExitNo, Text: "that is not its name; nothing was erased"}
	}
	return nil
}

func newJournalMonths(c *cli.Console) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "months",
		Short: "List the months of a fleet's journal",
		Long: `List the months in which the sessions of a fleet's journal began, with how many of
them are kept and what they take on disk. The databases are those of service.yaml,
or the one that --journal names; nothing is changed.

What journal.keep erases in a month goes with the whole month, as soon as none of
its sessions is kept any more: monitors that may erase see to it by themselves.`,
		Example: `  floodmark journal months
  floodmark journal months --journal postgres://floodmark_node@db.example/floodmark
  floodmark journal months --output json`,
		Annotations: cli.Exits("they are listed", "a database refused"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return journalMonths(cmd.Context(), c, f, cli.Format(cmd) == cli.AsJSON)
		}),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.journal, "journal", "", "the database at this `URL` instead of those in service.yaml")
	cmd.Flags().StringVar(&f.user, "user", "", "connect as this `NAME` instead of the one in the URLs")
	return cmd
}

func journalMonths(ctx context.Context, c *cli.Console, f initFlags, json bool) error {
	ranges, err := ranges(c, f)
	if err != nil {
		return err
	}
	list, err := postgresjournal.Months(ctx, ranges, postgresjournal.Options{})
	if err != nil {
		return unprepared(err, "prepare the database: floodmark journal init")
	}
	if json {
		return c.JSON(list)
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MONTH\tSESSIONS\tMB")
	for _, m := range list {
		name := fmt.Sprintf("%d-%02d", m.Month/100, m.Month%100)
		if m.Month == 0 {
			name = "before"
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\n", name, m.Sessions, float64(m.Bytes)/1e6)
	}
	return w.Flush()
}
