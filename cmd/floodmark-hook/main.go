// Command floodmark-hook is what an agent starts at each of its hooks: it
// hands the agent's message to the daemon and does what the daemon answers.
// It understands neither. If there is no answer it says no, in the way that
// agent obeys.
//
//	floodmark-hook [-socket PATH] [-deadline 10s] [-person 29m] AGENT EVENT < message
package main

import (
	"os"

	"github.com/floodmark/floodmark/internal/hookrun"
)

func main() {
	os.Exit(hookrun.Run("floodmark-hook", os.Args[1:], hookrun.Edge{Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
