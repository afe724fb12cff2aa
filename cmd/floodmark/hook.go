package main

import (
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/agents/hookrun"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
)

// newHook is the command «floodmark dev hook». It does by hand what floodmark-hook does.
func newHook(c *cli.Console) *cobra.Command {
	var socket, deadline string
	cmd := &cobra.Command{
		Use:   "hook AGENT EVENT",
		Short: "Ask the monitor what an agent's hook would ask",
		Long: `Hand a message of an agent to the monitor and do what it answers, byte for byte as
floodmark-hook does when the agent starts it: to see what an agent is told. The
message is read from standard input. It counts like any other: what it says is
written down, the session it names is real, and the shell you run it in counts as
that agent from then on, so that questions cannot be answered and sessions not be
read there. Use a monitor of its own («floodmark serve --dir try»), or a shell you close.

The exit status is what the agent takes for the answer. Without an answer it is a
refusal, in the way that agent obeys.`,
		Example: `  floodmark dev hook codex PreToolUse < message.json
  floodmark dev hook gemini-cli BeforeTool --socket ./try/run/hook.sock < message.json`,
		Args: asking.NeedsTwo("AGENT", "EVENT"),
		RunE: cli.Guard(func(_ *cobra.Command, args []string) error {
			words := args
			if socket != "" {
				words = append([]string{"-socket", c.Path(socket)}, words...)
			}
			if deadline != "" {
				words = append([]string{"-deadline", deadline}, words...)
			}
			edge := hookrun.Edge{Getenv: c.Getenv, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr}
			if code := hookrun.Run("floodmark dev hook", words, edge); code != cli.ExitOK {
				return cli.Status(code)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&socket, "socket", "", "the monitor's hook.sock at this `PATH` instead of the usual one")
	cmd.Flags().StringVar(&deadline, "deadline", "", "wait this `TIME` at most, such as 10s")
	return cmd
}
