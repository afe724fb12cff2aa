package main

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/linetext"
)

// A console is that of the product's commands, with a bar for what takes long.
type console struct{ *cli.Console }

// newProgress shows how far a long command is.
func (c console) newProgress(label string) *linetext.Bar {
	return &linetext.Bar{To: c.Stderr, Terminal: c.StderrTerminal, Label: label}
}

// oneOf refuses words that a flag does not know.
func oneOf(flag string, words, known []string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return cli.Refuse("known are "+strings.Join(known, ", "), "%s: there is no %q", flag, w)
		}
	}
	return nil
}

// profiles are the policies that come with the product.
func profiles() []string { return []string{"assistant", "coding", "strict", "dry-run"} }
