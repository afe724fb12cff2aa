package tape_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/story/tape"
)

type deaf struct{}

func (deaf) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	return hook.Reply{}, nil
}

// A released program records nothing, even if the variable is set.
func TestNothingIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape")
	t.Setenv(tape.Variable, file)
	hooks := tape.Tapes(deaf{})
	if _, same := hooks.(deaf); !same {
		t.Errorf("%T stands before the monitor", hooks)
	}
	if d := tape.Watched(nil); d != nil {
		t.Errorf("%T stands before the disk", d)
	}
	if _, err := hooks.Handle(t.Context(), "", hook.Event{Text: "secret"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("there is a tape: %v", err)
	}
}

// The fields that only the daemon sets are not in an event's JSON, and must not be lost.
func TestToldIsWhole(t *testing.T) {
	digest := floodmark.DigestOf("x")
	ev := hook.Event{
		Point: hook.BeforeToolCall, Agent: "pi", Session: "pi:1", Text: "a <b>", Boxes: true, Holes: true, Locks: []string{"go.sum"},
		Granted: []hook.Lasting{{Ticket: "t", Args: digest, Hosts: []string{"a.example"}}},
		Box:     &hook.BoxEnd{Ticket: "b", State: floodmark.BoxEnded, Failed: true, Exit: 3, Hosts: []string{"h"}, Paths: []string{"p"}},
		Push:    &hook.Push{Digest: digest, Head: []string{"h"}, Body: []string{"b"}, Unseen: "u", Refuse: "r"},
	}
	ev.Call.ID, ev.Call.Name, ev.Call.Args = "c", "bash", json.RawMessage(`{"command":"ls"}`)
	data, err := json.Marshal(tape.Line{At: 1, Told: tape.Tell(7, ev)})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := tape.Read(strings.NewReader(string(data) + "\n"))
	if err != nil || len(lines) != 1 || lines[0].Told.Number != 7 {
		t.Fatalf("%+v %v", lines, err)
	}
	if diff := cmp.Diff(ev, lines[0].Told.Whole()); diff != "" {
		t.Error(diff)
	}
}

func TestRead(t *testing.T) {
	const good = `{"at":1,"saw":{"asked":"a","answer":null}}` + "\n"
	for _, c := range []struct {
		text, want string
		lines      int
	}{
		{"", "", 0},
		{good + good, "", 2},
		{good + `{"at":1,"to`, "", 1}, // the writer was killed
		{good + "{\n" + good, "line 2: unexpected end", 0},
		{strings.Repeat("x", tape.MaxLine+1), "line 1: more than", 0},
	} {
		lines, err := tape.Read(strings.NewReader(c.text))
		if len(lines) != c.lines || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %d lines, %v", c.text, len(lines), err)
		}
	}
}

// Different questions never have the same text.
func TestQuestion(t *testing.T) {
	if a, b := tape.Question("links", "a b", "c"), tape.Question("links", "a", "b c"); a == b {
		t.Error(a)
	}
	if a, b := tape.Question("links", `a" "b`), tape.Question("links", "a", "b"); a == b {
		t.Error(a)
	}
}
