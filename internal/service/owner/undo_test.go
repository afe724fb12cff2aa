package owner

import (
	"errors"
	"testing"

	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// The beginning of a session's or call's name is enough if it is unique.
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

// The text distinguishes what is restored from what is removed.
func TestWhatAnUndoSays(t *testing.T) {
	gone := []string{"new.go", "b.go"}
	for want, got := range map[string]string{
		`restored: ["a.go"]; removed: ["new.go" "b.go"]`: backText([]string{"a.go", "new.go", "b.go"}, gone, "restored:", "removed:"),
		`would be removed: ["new.go"]`:                   backText([]string{"new.go"}, gone[:1], "would be restored:", "would be removed:"),
		`restored: ["a.go"]`:                             backText([]string{"a.go"}, nil, "restored:", "removed:"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A name may be shortened, with or without its agent, as long as it is unique.
func TestWhichNameIsMeant(t *testing.T) {
	for word, want := range map[string]string{
		"codex:0199": "codex:0199aa", "0199a": "codex:0199aa", "cod": "codex:0199aa", "pi:7": "pi:7", "7": "", "pi": "", "none": "", "77": "pi:77",
	} {
		m := meant{word: word, what: "session"}
		for _, name := range []string{"codex:0199aa", "pi:77", "pi:7", "pi:77"} {
			m.hear(name)
		}
		if got, err := m.one("look"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
}

// What the owner had undone is told with the session, and is not counted as an incident of it.
func TestAnUndoIsNoIncident(t *testing.T) {
	told := tale{incidents: []*wire.Incident{{Kind: Undo}, {Kind: "unmediated-call"}, {Kind: Undo}}}
	if n := told.wrong(); n != 1 {
		t.Errorf("%d incidents", n)
	}
}
