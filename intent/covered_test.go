package intent

import (
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// An owner may speak of an argument by its name, and of some kinds also by what they are.
func TestRoleName(t *testing.T) {
	leaf := hook.Leaf{Path: "a.b", Top: "a"}
	for is, want := range map[string]string{catalog.IsAmount: "amount a", catalog.IsWhen: "when a", catalog.IsID: "id a", catalog.IsName: "a", "": "a"} {
		if got := RoleName(catalog.Arg{Is: is}, leaf); got != want {
			t.Errorf("%q: %q, want %q", is, got, want)
		}
	}
}
