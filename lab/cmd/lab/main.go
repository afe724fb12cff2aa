// Command lab replays recorded attacks and recorded coding work, and counts what the rules of
// the product stop and how often they ask a person. It measures the product, and is no part of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// The exit codes.
const (
	exitOK       = 0
	exitUsage    = 2 // wrong usage, or input that cannot be read
	exitInternal = 3 // our own fault
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, edge(), os.Args[1:])
	stop()
	os.Exit(code)
}

// edge is the console of a real process.
func edge() *console {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // the folder was removed; opening a file will say so
	}
	c := &console{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, dir: dir, stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())), version: "(devel)"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				c.version = s.Value
			}
		}
	}
	return c
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, c *console, args []string) int {
	root := newRoot(c)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	f := &failure{code: exitUsage, text: err.Error(), hint: "run it with --help to see how it is used"}
	_ = errors.As(err, &f)
	fmt.Fprintf(c.stderr, "lab: %s\n", plain(f.text))
	if f.hint != "" {
		fmt.Fprintf(c.stderr, "  %s\n", plain(f.hint))
	}
	return f.code
}

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "Measure what the monitor is worth",
		Long:          "Measure what the monitor is worth. Figures are printed with the hashes of the rules\nthey were made with.",
		Example:       "  go -C lab run ./cmd/lab coding",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.PersistentFlags().StringP(outputFlag, "o", asText, "how to answer: text, json")
	root.AddCommand(newProtection(c), newAuditor(c), newCoding(c))
	return root
}
