package rules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/rules/oldconfig"
)

func newPolicyImport(c *cli.Console) *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Turn an agent's old configuration into a policy",
		Long: `Read an agent's configuration (JSON or JSON5: that of the provenance plugin,
tools.caution, tools.verifier) and print a policy that asks and refuses at least
where those parts did. Notes on standard error name what is asked or refused now
that passed before, and what restricts something in the file and was not read.
The addresses and secrets of an auditor or of verifiers belong into service.yaml:
until they stand there, a person is asked where the auditor would be, and calls that
a verifier has to agree to are refused. «-» reads standard input.

Here -o names the file to write; without it the policy goes to standard output.`,
		Example: `  floodmark policy import openclaw.json
  floodmark policy import openclaw.json -o floodmark.yaml
  floodmark policy import openclaw.json | floodmark policy check -`,
		Annotations: cli.Exits("it was imported", ""),
		Args:        cli.Needs("FILE"),
		RunE: cli.Guard(func(_ *cobra.Command, args []string) error {
			return importPolicy(c, args[0], out, force)
		}),
	}
	cmd.Flags().StringVarP(&out, cli.OutputFlag, "o", "", "write to this `FILE` instead of standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

func importPolicy(c *cli.Console, name, out string, force bool) error {
	if slices.Contains([]string{cli.AsText, cli.AsJSON, cli.AsSARIF}, out) {
		return cli.Refuse("for a file of that name write ./"+out, "here -o names a file, not a form: %q would be written", out)
	}
	data, err := c.Read(name)
	if err != nil {
		return err
	}
	text, notes, err := oldconfig.Import(name, data)
	if problems, ok := errors.AsType[floodmark.Problems](err); ok {
		printProblems(c.Stderr, c.ErrStyle(), checked{sources: map[string][]byte{name: data}, problems: problems})
		return cli.Refuse("mend the places shown above", "%s cannot be imported", name)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		c.Say("%s %s", c.ErrStyle().Yellow(notePlace(name, n)), n.Text)
	}
	if out == "" {
		_, err := c.Stdout.Write(text)
		return err
	}
	return c.Create(out, text, force)
}

// notePlace returns the line or file that a note is about.
func notePlace(name string, n oldconfig.Note) string {
	if n.Line == 0 {
		return name + ": note:"
	}
	return fmt.Sprintf("%s:%d:%d: note:", name, n.Line, n.Column)
}
