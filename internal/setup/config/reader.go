package config

import (
	"sync"

	"github.com/floodmark/floodmark/catalog"
)

// A Reader reads rules. It reads the shipped catalog once, when it is first needed, and never
// changes it. The files of this machine are read on each call. It is safe for concurrent use.
type Reader struct {
	shipped func() (*catalog.Catalog, error)
}

// NewReader returns a Reader that has read nothing yet.
func NewReader() *Reader { return &Reader{shipped: sync.OnceValues(catalog.Shipped)} }

// Shipped returns the catalog that comes with the program.
func (r *Reader) Shipped() (*catalog.Catalog, error) { return r.shipped() }
