package asking

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/wire"
)

func newClean(c *cli.Console) *cobra.Command {
	var p cli.Place
	var yes, dry bool
	cmd := &cobra.Command{
		Use:   "clean [PATH]",
		Short: "Remove files that sessions of little trust left in a project",
		Long: `List the files below PATH, or below the current folder, that sessions left after they
had read a stranger's text, and that git does not track: build results, caches, new
files. While they exist, every command of the project runs in a box or is asked about.
You choose which to remove. Files that were changed since stay, and so do tracked
files, for which there is «floodmark trust --diff». You must confirm at a terminal.
Linux only.`,
		Example: `  floodmark undo clean --dry-run
  floodmark undo clean ~/src/app`,
		Annotations: cli.Exits("no file is left that can be removed", "a file was not removed, or you did not confirm"),
		Args:        cobra.MaximumNArgs(1),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.LeftoversRequest{Folder: c.Path(strings.Join(args, ""))}
			l, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Leftovers, q)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON && !yes {
				return c.Message(l)
			}
			leftovers(c, l)
			if len(l.GetItems()) == 0 || dry {
				c.Say("nothing was removed")
				return nil
			}
			items, err := chosen(c, len(l.GetItems()), yes)
			if err != nil {
				return err
			}
			return clean(cmd.Context(), c, p, &wire.CleanRequest{List: l.GetList(), Items: items})
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove all that is listed, without asking")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list")
	cli.AddPlace(cmd, &p)
	return cmd
}

// leftovers prints a list. The names in it are foreign text, so they are escaped.
func leftovers(c *cli.Console, l *wire.LeftoversResponse) {
	fmt.Fprintf(c.Stdout, "Files that sessions of little trust left below %s, not tracked by git: %s\n", floodmark.Visible(l.GetFolder()), cli.Count(len(l.GetItems()), "item", "items"))
	for i, it := range l.GetItems() {
		name := floodmark.Visible(it.GetPath())
		if it.GetFolder() {
			name += "/"
		}
		linked := ""
		if it.GetLinked() > 0 {
			linked = fmt.Sprintf("; %d of them stay elsewhere under another name", it.GetLinked())
		}
		fmt.Fprintf(c.Stdout, "%4d  %s  (%s, %d bytes%s)\n      session %s, from %s\n", i+1, name,
			cli.Count(int(it.GetFiles()), "file", "files"), it.GetBytes(), linked, floodmark.Visible(it.GetSession()), it.GetSource())
	}
	staying(c, l.GetStays(), l.GetMore())
}

// staying prints what is not removed, and how much more is not shown.
func staying(c *cli.Console, list []*wire.Staying, more int64) {
	for _, s := range list {
		fmt.Fprintf(c.Stdout, "stays: %s: %s\n", floodmark.Visible(s.GetPath()), s.GetWhy())
	}
	if more > 0 {
		fmt.Fprintf(c.Stdout, "stays: %d more\n", more)
	}
}

// chosen asks which items are removed.
func chosen(c *cli.Console, n int, yes bool) (items []int32, err error) {
	answer := "all"
	if !yes {
		if answer, err = typed(c, "Which should be removed? Type all, or numbers such as 1 3: "); err != nil {
			return nil, err
		}
	}
	for i := range n {
		if answer == "all" {
			items = append(items, int32(min(i, 1<<30)))
		}
	}
	for _, word := range strings.Fields(strings.ReplaceAll(strings.TrimPrefix(answer, "all"), ",", " ")) {
		var i int
		if _, err := fmt.Sscanf(word+" ", "%d ", &i); err != nil || i < 1 || i > n {
			return nil, &cli.Failure{Code: cli.ExitNo, Text: "nothing was removed: «" + cli.Printable(word) + "» is no number of the list"}
		}
		items = append(items, int32(min(i-1, 1<<30)))
	}
	if len(items) == 0 {
		return nil, &cli.Failure{Code: cli.ExitNo, Text: "nothing was removed"}
	}
	return items, nil
}

// typed asks the person for a line.
func typed(c *cli.Console, prompt string) (string, error) {
	fmt.Fprint(c.Stderr, prompt)
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", cli.Unreadable("standard input", err)
	}
	return strings.TrimSpace(line), nil
}

// clean removes items in several requests until all are done, and shows its progress.
func clean(ctx context.Context, c *cli.Console, p cli.Place, q *wire.CleanRequest) error {
	removed, stays := int64(0), false
	for {
		a, err := cli.Ask(ctx, c, p, (*cli.Desk).Clean, q)
		if err != nil {
			return err
		}
		removed += a.GetRemoved()
		stays = stays || len(a.GetStays()) > 0
		staying(c, a.GetStays(), a.GetMore())
		if a.GetLeft() == 0 {
			break
		}
		c.Say("removed %d files, %d to go", removed, a.GetLeft())
	}
	c.Say("removed %s", cli.Count(int(removed), "file", "files"))
	if stays {
		return cli.ErrNo
	}
	return nil
}

// pageRows is how many rows are shown before the person is asked to go on.
const pageRows = 40

// endorseFiles shows files, asks the person once, and then trusts exactly what was shown.
func endorseFiles(c *cli.Console, cmd *cobra.Command, p cli.Place, paths []string) error {
	q := &wire.LeftoversRequest{Folder: c.Dir, Contents: true, Paths: paths}
	l, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Leftovers, q)
	if err != nil {
		return err
	}
	if cli.Format(cmd) == cli.AsJSON {
		return c.Message(l)
	}
	staying(c, l.GetStays(), l.GetMore())
	var rows []string
	for _, f := range l.GetFiles() {
		rows = append(rows, shownFile(f)...)
	}
	if len(rows) == 0 {
		c.Say("there is no file here to trust")
		return cli.ErrNo
	}
	c.Say("%s to look at, %d rows", cli.Count(len(l.GetFiles()), "file", "files"), len(rows))
	for i, row := range rows {
		if i > 0 && i%pageRows == 0 {
			if answer, err := typed(c, fmt.Sprintf("%d rows to go; Enter for more, q to end: ", len(rows)-i)); err != nil || answer != "" {
				return &cli.Failure{Code: cli.ExitNo, Text: "nothing was trusted"}
			}
		}
		fmt.Fprintln(c.Stdout, row)
	}
	if answer, err := typed(c, "Type yes to trust exactly this: "); err != nil || answer != "yes" {
		return &cli.Failure{Code: cli.ExitNo, Text: "nothing was trusted"}
	}
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Endorse, &wire.EndorseRequest{List: l.GetList()})
	if err != nil {
		return err
	}
	return c.Outcome(cli.AsText, a.GetDone(), a.GetNotice(), nil)
}

// shownFile returns a file as rows. The number of lines that are not shown comes first.
func shownFile(f *wire.ShownFile) []string {
	ch := linetext.ChangesOf(f.GetOld(), f.GetNew())
	what := fmt.Sprintf("compared with commit %.10s: %d lines added, %d removed; %d equal lines are not shown", f.GetCommit(), ch.In, ch.Out, ch.Same)
	if f.GetCommit() == "" {
		what = fmt.Sprintf("no trusted version of it is known: all %d lines are shown", ch.In)
	}
	return append([]string{
		"", "file " + floodmark.Visible(f.GetPath()) + "  (session " + floodmark.Visible(f.GetSession()) + ", from " + f.GetSource() + ")", what,
	}, ch.Rows...)
}
