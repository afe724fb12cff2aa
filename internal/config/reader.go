package config

import (
	"sync"

	"github.com/floodmark/floodmark/catalog"
)

// A Reader reads rules. It reads the catalog that comes with the program once, when
// that is first needed: nothing changes it, however many rules stand on it. What lies
// on this machine it reads each time it is asked. Many may use it at once.
type Reader struct {
	shipped func() (*catalog.Catalog, error)
}

// NewReader returns one that has read nothing yet.
func NewReader() *Reader { return &Reader{shipped: sync.OnceValues(catalog.Shipped)} }

// Shipped returns the catalog that comes with the program.
func (r *Reader) Shipped() (*catalog.Catalog, error) { return r.shipped() }
