// Package intent compares calls with what owners asked for: whether their own words
// cover a call, and what vouches for each value in it that they did not type. It
// decides nothing. What it cannot read, the owner did not ask for.
package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/provenance"
)

// A Session is what the owner said in a session, beside what was seen there.
type Session struct {
	Agent   string
	Catalog *catalog.Catalog
	Words   *language.Lexicon // the words with which owners ask; nil knows none
	Ledger  *provenance.Ledger
	Read    *Readings // remembers how words were read; nil remembers nothing
	// Said are all messages of the owner. LastTurn and Turn are the indexes in Said at
	// which the last turn and this one begin.
	Said           []string
	LastTurn, Turn int
}

// A Call is one call that is compared with the owner's words.
type Call struct {
	Tool      floodmark.ToolRef
	Effects   []floodmark.Effect
	Use       *catalog.Use
	Arguments []floodmark.Argument
	Leaves    []hook.Leaf   // the value of each argument
	About     []catalog.Arg // what the catalog says of each argument
}

// has reports whether an argument is of this kind, such as [catalog.IsAmount].
func (c *Call) has(is string) bool {
	return slices.ContainsFunc(c.About, func(a catalog.Arg) bool { return a.Is == is })
}
