// Package intent holds what owners asked for: whether a call is one that their own
// words cover, and what vouches for each value in it that they did not type. It
// decides nothing, and what it cannot read it takes for not asked.
package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/language"
	"github.com/floodmark/floodmark/provenance"
)

// A Session is what the owner said in a session, beside what was seen there.
type Session struct {
	Agent   string
	Catalog *catalog.Catalog
	Words   *language.Lexicon // those with which owners ask; nil for none
	Ledger  *provenance.Ledger
	Read    *Readings // remembers how words were read; nil remembers nothing
	// Said is all that the owner said. The last turn and this one began when they had
	// said so much of it.
	Said           []string
	LastTurn, Turn int
}

// A Call is one call as it is held against the owner's words.
type Call struct {
	Tool      floodmark.ToolRef
	Effects   []floodmark.Effect
	Use       *catalog.Use
	Arguments []floodmark.Argument
	Leaves    []hook.Leaf   // the value of each argument
	About     []catalog.Arg // and what the catalog says of it
}

// has reports whether an argument stands for something.
func (c *Call) has(is string) bool {
	return slices.ContainsFunc(c.About, func(a catalog.Arg) bool { return a.Is == is })
}
