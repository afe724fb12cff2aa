package records

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// graphForms are the forms a graph can be drawn in.
func graphForms() []string { return []string{"turngraph", "prov-json", "svg"} }

func newGraph(c *cli.Console) *cobra.Command {
	var p cli.Place
	var file string
	var force bool
	form := &cli.Choice{Name: "FORM", Value: "turngraph", Known: graphForms()}
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
		Annotations: cli.Exits("it is drawn", "no monitor runs"),
		Args:        cli.Needs("SESSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.GraphRequest{Session: args[0], Format: form.Value}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Graph, q)
			switch {
			case err != nil:
				return err
			case file != "":
				return c.Create(file, a.GetData(), force)
			case cli.Format(cmd) == cli.AsJSON:
				return c.Message(a)
			}
			return printGraph(c, a.GetData())
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().Var(form, "format", "how to draw it: "+strings.Join(graphForms(), ", "))
	cmd.Flags().StringVar(&file, "file", "", "write to this `FILE` instead of standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	cli.Complete(cmd, "format", graphForms())
	return cmd
}

// printGraph writes a graph to standard output: unchanged to a program, escaped to a terminal.
func printGraph(c *cli.Console, data []byte) error {
	if c.StdoutTerminal {
		data = []byte(cli.Printable(string(data)))
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	_, err := c.Stdout.Write(data)
	return err
}
