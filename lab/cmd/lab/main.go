// Command lab replays recorded attacks and recorded coding work. It counts what the product's rules
// stop and how often they ask a person. It measures the product and is not part of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/floodmark/floodmark/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, edge(), os.Args[1:])
	stop()
	os.Exit(code)
}

// edge returns the console of a real process.
func edge() console {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // the folder was removed; opening a file will say so
	}
	info, _ := debug.ReadBuildInfo()
	return console{&cli.Console{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir,
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())), Build: cli.NewBuild("", info),
	}}
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, c console, args []string) int {
	root := newRoot(c)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return c.Report(cmd, err)
}

func newRoot(c console) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "Measure what the monitor is worth",
		Long:          "Measure what the monitor is worth. Figures are printed with the hashes of the rules\nthey were made with.",
		Example:       "  go -C lab run ./cmd/lab coding",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	cli.AddOutput(root, true, cli.AsText, cli.AsJSON)
	root.AddCommand(newProtection(c), newAuditor(c), newCoding(c))
	return root
}
