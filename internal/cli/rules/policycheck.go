package rules

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/format/sarif"
	"github.com/floodmark/floodmark/internal/rules/policycheck"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/policy"
)

func newPolicyCheck(c *cli.Console) *cobra.Command {
	var projects []string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Find what is wrong in policy files",
		Long: `Read policy files and say what is wrong with them, with file, line and column. Each
FILE is checked as a user's policy of its own, together with the project files.
Project files may also be checked alone. «-» reads standard input.

Warnings say what is allowed but probably not meant; with --strict they fail too.
The form sarif (2.1.0) is for code hosts that show problems beside the code.`,
		Example: `  floodmark policy check floodmark.yaml
  floodmark policy check floodmark.yaml --project .floodmark.yaml --strict
  floodmark policy check --project .floodmark.yaml
  floodmark policy check floodmark.yaml --output sarif > problems.sarif`,
		Annotations: cli.Exits("nothing is wrong", "a problem was found (with --strict: or a warning)"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(projects) == 0 {
				return fmt.Errorf("%s needs a FILE", cmd.CommandPath())
			}
			return nil
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			checked, err := runCheck(c, args, projects)
			if err != nil {
				return err
			}
			return printCheck(c, checked, cli.Format(cmd), strict)
		}),
		ValidArgsFunction: offerYAML,
	}
	cmd.Flags().StringArrayVar(&projects, "project", nil, "a project's policy `FILE`; may be given more than once")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	cli.AddOutput(cmd, false, cli.AsText, cli.AsJSON, cli.AsSARIF)
	return cmd
}

// A checked is the result of checking policy files.
type checked struct {
	files    []string
	sources  map[string][]byte
	problems floodmark.Problems
}

func (ch checked) errors() int {
	n := 0
	for _, p := range ch.problems {
		if p.Severity != floodmark.Warning {
			n++
		}
	}
	return n
}

// runCheck checks each file together with the project files. A project file is read once for each
// of them, but its problems are reported only once.
func runCheck(c *cli.Console, names, projects []string) (checked, error) {
	ch := checked{sources: map[string][]byte{}, problems: floodmark.Problems{}}
	shipped, err := c.ShippedCatalog()
	if err != nil {
		return ch, err
	}
	below, err := projectLayers(c, projects)
	if err != nil {
		return ch, err
	}
	stacks := [][]policy.Layer{}
	for _, name := range names {
		l, err := layer(c, name, false)
		if err != nil {
			return ch, err
		}
		stacks = append(stacks, append([]policy.Layer{l}, below...))
	}
	if len(names) == 0 {
		stacks = append(stacks, below)
	}
	for _, stack := range stacks {
		for _, l := range stack {
			ch.sources[l.Name] = l.Data
			if !slices.Contains(ch.files, l.Name) {
				ch.files = append(ch.files, l.Name)
			}
		}
		_, problems := policycheck.Check(shipped, stack...)
		for _, p := range problems {
			if !slices.Contains(ch.problems, p) {
				ch.problems = append(ch.problems, p)
			}
		}
	}
	return ch, nil
}

func printCheck(c *cli.Console, ch checked, format string, strict bool) error {
	errs := ch.errors()
	warnings := len(ch.problems) - errs
	ok := errs == 0 && (warnings == 0 || !strict)
	switch format {
	case cli.AsJSON:
		if err := c.JSON(checkReport{OK: ok, Files: ch.files, Errors: errs, Warnings: warnings, Problems: ch.problems}); err != nil {
			return err
		}
	case cli.AsSARIF:
		if err := c.JSON(sarif.New(ch.files, ch.problems, c.Build.Version)); err != nil {
			return err
		}
	default:
		printProblems(c.Stdout, c.OutStyle(), ch)
		c.Say("%s: %s, %s", strings.Join(ch.files, ", "), cli.Count(errs, "error", "errors"), cli.Count(warnings, "warning", "warnings"))
	}
	if !ok {
		return cli.ErrNo
	}
	return nil
}

// A checkReport is the answer for programs: fields are only added.
type checkReport struct {
	OK       bool               `json:"ok"`
	Files    []string           `json:"files"`
	Errors   int                `json:"errors"`
	Warnings int                `json:"warnings"`
	Problems floodmark.Problems `json:"problems"`
}

// printProblems shows each problem with the line it is in.
func printProblems(w io.Writer, st cli.Style, ch checked) {
	for _, p := range ch.problems {
		word := st.Red(string(p.Severity))
		if p.Severity == floodmark.Warning {
			word = st.Yellow(string(p.Severity))
		}
		place := fmt.Sprintf("%s:%d:%d:", p.File, p.Line, p.Column)
		fmt.Fprintf(w, "%s %s: %s\n", st.Bold(place), word, cli.Printable(p.Text))
		if text := linetext.Excerpt(ch.sources[p.File], p.Line, p.Column); text != "" {
			fmt.Fprintln(w, cli.Indent(text, "    "))
		}
		if p.Hint != "" {
			fmt.Fprintf(w, "    %s %s\n", st.Dim("hint:"), cli.Printable(p.Hint))
		}
	}
}
