package main

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A console is the console of the product's commands. It also shows how far a long step is.
type console struct{ *cli.Console }

// progress shows at a terminal how much of a long step is done. Call end before anything else is
// written.
func (c console) progress(step string) (done func(done, total int), end func()) {
	var s linetext.Steps
	if c.StderrTerminal {
		s = linetext.Steps{To: c.Stderr, InPlace: true}
	}
	return s.Count(step), s.End
}

// oneOf refuses words that are not among the known values of a flag.
func oneOf(flag string, words, known []string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return cli.Refuse("known are "+strings.Join(known, ", "), "%s: there is no %q", flag, w)
		}
	}
	return nil
}

// profiles returns the policies that come with the product.
func profiles() []string { return []string{"assistant", "coding", "strict", "dry-run"} }
