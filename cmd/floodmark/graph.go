package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/wire"
)

// graphForms are the forms a graph can be drawn in.
func graphForms() []string { return []string{"turngraph", "prov-json", "svg"} }

func newGraph(c *console) *cobra.Command {
	var p place
	var file string
	var force bool
	form := &choice{name: "FORM", value: "turngraph", known: graphForms()}
	cmd := &cobra.Command{
		Use:   "graph SESSION",
		Short: "Draw where the content of a session came from",
		Long: `Draw a session as a graph: what came in, what was made from it, and which
decisions followed. The forms are

  turngraph   JSON, one graph for each turn
  prov-json   W3C PROV, for tools that read provenance
  svg         a picture for a report

The graph goes to standard output, or with --file to a file. With --output json
it comes within an object that also says what it is.`,
		Example: `  floodmark journal graph codex:0199 --format svg --file session.svg
  floodmark journal graph codex:0199 --format prov-json`,
		Annotations: exits("it is drawn", "no monitor runs"),
		Args:        needs("SESSION"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.GraphRequest{Session: args[0], Format: form.value}
			a, err := ask(cmd.Context(), c, p, (*desk).Graph, q)
			switch {
			case err != nil:
				return err
			case file != "":
				return c.create(file, a.GetData(), force)
			case format(cmd) == asJSON:
				return c.message(a)
			}
			return c.printGraph(a.GetData())
		}),
		ValidArgsFunction: c.offerSessions(&p),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().Var(form, "format", "how to draw it: "+strings.Join(graphForms(), ", "))
	cmd.Flags().StringVar(&file, "file", "", "write to this `FILE` instead of standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	complete(cmd, "format", graphForms())
	return cmd
}

// printGraph writes a graph to standard output: unchanged to a program, escaped to a terminal.
func (c *console) printGraph(data []byte) error {
	if c.stdoutTerminal {
		data = []byte(printable(string(data)))
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	_, err := c.stdout.Write(data)
	return err
}
