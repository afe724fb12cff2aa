package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/oldconfig"
)

func newPolicyImport(c *console) *cobra.Command {
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
		Annotations: exits("it was imported", ""),
		Args:        needs("FILE"),
		RunE: guard(func(_ *cobra.Command, args []string) error {
			return c.importPolicy(args[0], out, force)
		}),
	}
	cmd.Flags().StringVarP(&out, outputFlag, "o", "", "write to this `FILE` instead of standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

func (c *console) importPolicy(name, out string, force bool) error {
	if slices.Contains([]string{asText, asJSON, asSARIF}, out) {
		return refuse("for a file of that name write ./"+out, "here -o names a file, not a form: %q would be written", out)
	}
	data, err := c.read(name)
	if err != nil {
		return err
	}
	text, notes, err := oldconfig.Import(name, data)
	if problems, ok := errors.AsType[floodmark.Problems](err); ok {
		printProblems(c.stderr, c.errStyle(), checked{sources: map[string][]byte{name: data}, problems: problems})
		return refuse("mend the places shown above", "%s cannot be imported", name)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		c.say("%s %s", c.errStyle().yellow(notePlace(name, n)), n.Text)
	}
	if out == "" {
		_, err := c.stdout.Write(text)
		return err
	}
	return c.create(out, text, force)
}

// notePlace returns the line or file that a note is about.
func notePlace(name string, n oldconfig.Note) string {
	if n.Line == 0 {
		return name + ": note:"
	}
	return fmt.Sprintf("%s:%d:%d: note:", name, n.Line, n.Column)
}
