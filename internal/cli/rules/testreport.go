package rules

import (
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/story"
)

// The results of one story.
const (
	passed     = "passed"
	failed     = "failed"
	unplayable = "unreadable"
)

// A played is the result of one story. Programs read its JSON: fields are only added, never
// renamed.
type played struct {
	File     string          `json:"file"`
	Title    string          `json:"title,omitempty"`
	Result   string          `json:"result"`
	Checks   int             `json:"checks"`
	Mistakes []story.Mistake `json:"mistakes,omitempty"`
	// Diff compares the journals: wanted lines begin with -, written ones with +.
	Diff    []string `json:"journalDiff,omitempty"`
	Updated bool     `json:"updated,omitempty"`
	Error   string   `json:"error,omitempty"`

	journal string
}

func (p played) unreadable(err error) played {
	p.Result, p.Error = unplayable, err.Error()
	return p
}

// A report is the result of all stories.
type report struct {
	Stories    []played `json:"stories"`
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"`
	Unreadable int      `json:"unreadable"`
}

func (r *report) add(p played) {
	r.Stories = append(r.Stories, p)
	switch p.Result {
	case passed:
		r.Passed++
	case failed:
		r.Failed++
	default:
		r.Unreadable++
	}
}

// conclude prints the end of a report and returns the error that the command ends with.
func conclude(c *cli.Console, r report, format string) error {
	if format == cli.AsJSON {
		if err := c.JSON(r); err != nil {
			return err
		}
	} else {
		text := fmt.Sprintf("%d passed, %d failed", r.Passed, r.Failed)
		if r.Unreadable > 0 {
			text += fmt.Sprintf(", %d unreadable", r.Unreadable)
		}
		fmt.Fprintln(c.Stdout, c.OutStyle().Bold(text))
	}
	switch {
	case r.Unreadable > 0:
		return cli.Refuse("mend the lines shown above", "%s cannot be played", cli.Count(r.Unreadable, "story", "stories"))
	case r.Failed > 0:
		return cli.ErrNo
	}
	return nil
}

// printStory prints one line for a story, and what is wrong if it failed.
func printStory(c *cli.Console, p played, verbose bool) {
	st := c.OutStyle()
	word := st.Green("ok  ")
	if p.Result != passed {
		word = st.Red("FAIL")
	}
	line := word + " " + p.File
	switch {
	case p.Updated:
		line += " (journal rewritten)"
	case p.Result == passed && p.Checks == 0:
		line += st.Yellow(" (checks nothing: end a line with «-> allow» or use «expect»)")
	}
	if verbose {
		line += st.Dim(fmt.Sprintf(" %s (%s)", cli.Printable(p.Title), cli.Count(p.Checks, "check", "checks")))
	}
	fmt.Fprintln(c.Stdout, line)
	if p.Error != "" {
		fmt.Fprintln(c.Stdout, cli.Indent(cli.Printable(p.Error), "     "))
	}
	for _, m := range p.Mistakes {
		printMistake(c, p.File, m, st)
	}
	printDiff(c, p, st)
	if verbose && p.journal != "" {
		fmt.Fprintln(c.Stdout, cli.Indent(cli.Printable(strings.TrimSpace(p.journal)), "     | "))
	}
}

func printMistake(c *cli.Console, file string, m story.Mistake, st cli.Style) {
	fmt.Fprintf(c.Stdout, "     %s %s\n", st.Bold(fmt.Sprintf("%s:%d:", file, m.Line)), cli.Printable(m.Said))
	if m.Want != "" {
		fmt.Fprintf(c.Stdout, "       want %s\n", st.Green(cli.Printable(m.Want)))
	}
	fmt.Fprintf(c.Stdout, "       got  %s\n", st.Red(cli.Printable(m.Got)))
}

func printDiff(c *cli.Console, p played, st cli.Style) {
	if len(p.Diff) == 0 {
		return
	}
	fmt.Fprintf(c.Stdout, "     the journal differs (- wanted, + written; «floodmark policy test --update %s» accepts it)\n", p.File)
	for _, line := range p.Diff {
		line = cli.Printable(line)
		switch line[0] {
		case '-':
			line = st.Green(line)
		case '+':
			line = st.Red(line)
		}
		fmt.Fprintln(c.Stdout, "       "+line)
	}
}

// part returns the text of one file in a story.
func part(data []byte, name string) string {
	for _, f := range txtar.Parse(data).Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// partLine returns the line in which a file of a story is announced; 0 if it is not there.
func partLine(data []byte, name string) int {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if strings.TrimSpace(line) == "-- "+name+" --" {
			return n
		}
	}
	return 0
}
