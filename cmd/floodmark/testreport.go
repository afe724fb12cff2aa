package main

import (
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark/internal/story"
)

// The results of one story.
const (
	passed     = "passed"
	failed     = "failed"
	unplayable = "unreadable"
)

// A played is the result of one story. Its JSON is read by other programs: fields are only added,
// never renamed.
type played struct {
	File     string          `json:"file"`
	Title    string          `json:"title,omitempty"`
	Result   string          `json:"result"`
	Checks   int             `json:"checks"`
	Mistakes []story.Mistake `json:"mistakes,omitempty"`
	// Diff is the journal, wanted lines with -, written ones with +.
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

// conclude prints the end of a report and returns how the command ends.
func (c *console) conclude(r report, format string) error {
	if format == asJSON {
		if err := c.json(r); err != nil {
			return err
		}
	} else {
		text := fmt.Sprintf("%d passed, %d failed", r.Passed, r.Failed)
		if r.Unreadable > 0 {
			text += fmt.Sprintf(", %d unreadable", r.Unreadable)
		}
		fmt.Fprintln(c.stdout, c.outStyle().bold(text))
	}
	switch {
	case r.Unreadable > 0:
		return refuse("mend the lines shown above", "%s cannot be played", count(r.Unreadable, "story", "stories"))
	case r.Failed > 0:
		return errNo
	}
	return nil
}

// printStory prints one line for a story and, if it failed, what is wrong.
func (c *console) printStory(p played, verbose bool) {
	st := c.outStyle()
	word := st.green("ok  ")
	if p.Result != passed {
		word = st.red("FAIL")
	}
	line := word + " " + p.File
	switch {
	case p.Updated:
		line += " (journal rewritten)"
	case p.Result == passed && p.Checks == 0:
		line += st.yellow(" (checks nothing: end a line with «-> allow» or use «expect»)")
	}
	if verbose {
		line += st.dim(fmt.Sprintf(" %s (%s)", printable(p.Title), count(p.Checks, "check", "checks")))
	}
	fmt.Fprintln(c.stdout, line)
	if p.Error != "" {
		fmt.Fprintln(c.stdout, indent(printable(p.Error), "     "))
	}
	for _, m := range p.Mistakes {
		c.printMistake(p.File, m, st)
	}
	c.printDiff(p, st)
	if verbose && p.journal != "" {
		fmt.Fprintln(c.stdout, indent(printable(strings.TrimSpace(p.journal)), "     | "))
	}
}

func (c *console) printMistake(file string, m story.Mistake, st style) {
	fmt.Fprintf(c.stdout, "     %s %s\n", st.bold(fmt.Sprintf("%s:%d:", file, m.Line)), printable(m.Said))
	if m.Want != "" {
		fmt.Fprintf(c.stdout, "       want %s\n", st.green(printable(m.Want)))
	}
	fmt.Fprintf(c.stdout, "       got  %s\n", st.red(printable(m.Got)))
}

func (c *console) printDiff(p played, st style) {
	if len(p.Diff) == 0 {
		return
	}
	fmt.Fprintf(c.stdout, "     the journal differs (- wanted, + written; «floodmark policy test --update %s» accepts it)\n", p.File)
	for _, line := range p.Diff {
		line = printable(line)
		switch line[0] {
		case '-':
			line = st.green(line)
		case '+':
			line = st.red(line)
		}
		fmt.Fprintln(c.stdout, "       "+line)
	}
}

// part is the text of one file of a story.
func part(data []byte, name string) string {
	for _, f := range txtar.Parse(data).Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// partLine is how many lines stand before the text of one file of a story.
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
