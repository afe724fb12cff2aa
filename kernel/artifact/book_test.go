package artifact

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// shelf has the records that sessions left behind, in their order.
type shelf []Kept

func (s shelf) Find(refs []floodmark.ArtifactRef) []Kept {
	return slices.DeleteFunc(slices.Clone(s), func(k Kept) bool { return !slices.Contains(refs, k.Ref) })
}

// newBooks makes books of the session s in the profile coding.
func newBooks(t *testing.T) func() *Book {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\nprofile: coding")})
	shipped, err := catalog.Shipped()
	if problems.Failed() || err != nil {
		t.Fatal(problems, err)
	}
	return func() *Book {
		return &Book{Catalog: shipped, Policy: p, Session: "s", Ledger: &provenance.Ledger{}, Trail: &Trail{}}
	}
}

// emptyDisk is a disk with nothing on it.
type emptyDisk struct{}

func (emptyDisk) Around(string) (Checkout, bool)             { return Checkout{}, false }
func (emptyDisk) Revisions(string, []string) []Checkout      { return nil }
func (emptyDisk) Resolve(p string) string                    { return p }
func (emptyDisk) Links(string, bool) map[string]string       { return nil }
func (emptyDisk) Pushes(string, string) floodmark.Digest     { return floodmark.Digest{} }
func (emptyDisk) Databases(string) []string                  { return nil }
func (emptyDisk) Composes(string) bool                       { return false }
func (emptyDisk) Secrets(Search) Hoard                       { return Hoard{Whole: true} }
func (emptyDisk) Repository(string) (dir, common string)     { return "", "" }
func (emptyDisk) Nested(string) (folders []string, all bool) { return nil, false }
func (emptyDisk) Starts(string, []string) []string           { return nil }
func (emptyDisk) Content(string) floodmark.Digest            { return floodmark.Digest{} }
func (emptyDisk) Exactly(string) floodmark.Digest            { return floodmark.Digest{} }
func (emptyDisk) Head(string) string                         { return "" }
func (emptyDisk) Missing(string) bool                        { return false }
