// Command floodmark-hook is started by an agent at each of its hooks. It passes the agent's message
// to the daemon and carries out the daemon's answer, without interpreting either. If there is no
// answer, it says no in the form that the agent obeys.
//
//	floodmark-hook [-socket PATH] [-deadline 10s] [-person 29m] AGENT EVENT < message
package main

import (
	"os"

	"github.com/floodmark/floodmark/internal/agents/hookrun"
)

func main() {
	os.Exit(hookrun.Run("floodmark-hook", os.Args[1:], hookrun.Edge{Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
