package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/wire"
)

func newClean(c *console) *cobra.Command {
	var p place
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
		Annotations: exits("nothing is left that can be removed", "something was not removed, or nothing was confirmed"),
		Args:        cobra.MaximumNArgs(1),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.LeftoversRequest{Folder: c.path(strings.Join(args, ""))}
			l, err := ask(cmd.Context(), c, p, (*desk).Leftovers, q)
			if err != nil {
				return err
			}
			if format(cmd) == asJSON && !yes {
				return c.message(l)
			}
			c.leftovers(l)
			if len(l.GetItems()) == 0 || dry {
				c.say("nothing was removed")
				return nil
			}
			items, err := c.chosen(len(l.GetItems()), yes)
			if err != nil {
				return err
			}
			return c.clean(cmd.Context(), p, &wire.CleanRequest{List: l.GetList(), Items: items})
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove all that is listed, without asking")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list")
	addPlace(cmd, &p)
	return cmd
}

// leftovers prints a list. The names in it are foreign text.
func (c *console) leftovers(l *wire.LeftoversResponse) {
	fmt.Fprintf(c.stdout, "Left by sessions of little trust below %s, and not kept by git: %s\n", floodmark.Visible(l.GetFolder()), count(len(l.GetItems()), "item", "items"))
	for i, it := range l.GetItems() {
		name := floodmark.Visible(it.GetPath())
		if it.GetFolder() {
			name += "/"
		}
		linked := ""
		if it.GetLinked() > 0 {
			linked = fmt.Sprintf("; %d of them stay elsewhere under another name", it.GetLinked())
		}
		fmt.Fprintf(c.stdout, "%4d  %s  (%s, %d bytes%s)\n      session %s, from %s\n", i+1, name,
			count(int(it.GetFiles()), "file", "files"), it.GetBytes(), linked, floodmark.Visible(it.GetSession()), it.GetSource())
	}
	c.staying(l.GetStays(), l.GetMore())
}

// staying prints what is not removed or not shown.
func (c *console) staying(list []*wire.Staying, more int64) {
	for _, s := range list {
		fmt.Fprintf(c.stdout, "stays: %s: %s\n", floodmark.Visible(s.GetPath()), s.GetWhy())
	}
	if more > 0 {
		fmt.Fprintf(c.stdout, "stays: %d more\n", more)
	}
}

// chosen asks which items are removed.
func (c *console) chosen(n int, yes bool) (items []int32, err error) {
	answer := "all"
	if !yes {
		if answer, err = c.typed("Which are removed? Type all, or numbers such as 1 3: "); err != nil {
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
			return nil, &failure{code: exitNo, text: "nothing was removed: «" + printable(word) + "» is no number of the list"}
		}
		items = append(items, int32(min(i-1, 1<<30)))
	}
	if len(items) == 0 {
		return nil, &failure{code: exitNo, text: "nothing was removed"}
	}
	return items, nil
}

// typed asks for a line.
func (c *console) typed(prompt string) (string, error) {
	fmt.Fprint(c.stderr, prompt)
	line, err := bufio.NewReader(io.LimitReader(c.stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", unreadable("standard input", err)
	}
	return strings.TrimSpace(line), nil
}

// clean removes until nothing is left, and shows its progress.
func (c *console) clean(ctx context.Context, p place, q *wire.CleanRequest) error {
	removed, stays := int64(0), false
	for {
		a, err := ask(ctx, c, p, (*desk).Clean, q)
		if err != nil {
			return err
		}
		removed += a.GetRemoved()
		stays = stays || len(a.GetStays()) > 0
		c.staying(a.GetStays(), a.GetMore())
		if a.GetLeft() == 0 {
			break
		}
		c.say("removed %d files, %d to go", removed, a.GetLeft())
	}
	c.say("removed %s", count(int(removed), "file", "files"))
	if stays {
		return errNo
	}
	return nil
}

// pageRows is how many rows are shown before the next are asked for.
const pageRows = 40

// endorseFiles shows files, asks once, and trusts what was shown.
func (c *console) endorseFiles(cmd *cobra.Command, p place, paths []string) error {
	q := &wire.LeftoversRequest{Folder: c.dir, Contents: true, Paths: paths}
	l, err := ask(cmd.Context(), c, p, (*desk).Leftovers, q)
	if err != nil {
		return err
	}
	if format(cmd) == asJSON {
		return c.message(l)
	}
	c.staying(l.GetStays(), l.GetMore())
	var rows []string
	for _, f := range l.GetFiles() {
		rows = append(rows, shownFile(f)...)
	}
	if len(rows) == 0 {
		c.say("there is no file here to trust")
		return errNo
	}
	c.say("%s to look at, %d rows", count(len(l.GetFiles()), "file", "files"), len(rows))
	for i, row := range rows {
		if i > 0 && i%pageRows == 0 {
			if answer, err := c.typed(fmt.Sprintf("%d rows to go; Enter for more, q to end: ", len(rows)-i)); err != nil || answer != "" {
				return &failure{code: exitNo, text: "nothing was trusted"}
			}
		}
		fmt.Fprintln(c.stdout, row)
	}
	if answer, err := c.typed("Type yes to trust exactly this: "); err != nil || answer != "yes" {
		return &failure{code: exitNo, text: "nothing was trusted"}
	}
	a, err := ask(cmd.Context(), c, p, (*desk).Endorse, &wire.EndorseRequest{List: l.GetList()})
	if err != nil {
		return err
	}
	return c.outcome(asText, a.GetDone(), a.GetNotice(), nil)
}

// shownFile returns a file as rows. The parts that are not shown are counted first.
func shownFile(f *wire.ShownFile) []string {
	ch := linetext.ChangesOf(f.GetOld(), f.GetNew())
	what := fmt.Sprintf("compared with commit %.10s: %d lines in, %d out; %d equal lines are not shown", f.GetCommit(), ch.In, ch.Out, ch.Same)
	if f.GetCommit() == "" {
		what = fmt.Sprintf("no better content of it is known: all %d lines are shown", ch.In)
	}
	return append([]string{
		"", "file " + floodmark.Visible(f.GetPath()) + "  (session " + floodmark.Visible(f.GetSession()) + ", from " + f.GetSource() + ")", what,
	}, ch.Rows...)
}
