package owner

import (
	"errors"
	"testing"

	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/undo"
)

// A session and a call may be written by how they begin, where that says which is meant.
func TestWhichCallIsUndone(t *testing.T) {
	all := []undo.About{{Session: "pi:01a1", Call: "10"}, {Session: "pi:01a1", Call: "1"}, {Session: "pi:01b2", Call: "x1"}, {Session: "pi:01b2", Call: "x2"}}
	for _, c := range []struct {
		session, call string
		want          int
		err           error
	}{
		{"", "", 4, nil},
		{"pi:01a1", "", 2, nil},
		{"pi:01a", "", 2, nil},
		{"pi:01a", "1", 1, nil},
		{"pi:01b", "x2", 1, nil},
		{"pi:01", "", 0, httpapi.ErrInvalid},
		{"pi:01b2", "x", 0, httpapi.ErrInvalid},
		{"pi:02", "", 0, httpapi.ErrNotFound},
		{"pi:01a1", "x1", 0, httpapi.ErrNotFound},
		{"", "x1", 1, nil},
	} {
		if got, err := named(all, c.session, c.call); len(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q %q: %v, %v", c.session, c.call, got, err)
		}
	}
}
