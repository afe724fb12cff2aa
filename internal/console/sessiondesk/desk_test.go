package sessiondesk

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// TestSessionGraph reads a session of the caller's tenant, and no other.
func TestSessionGraph(t *testing.T) {
	j := journal.NewMemory()
	s := journal.Session{ID: "openclaw:s"}
	entries, err := journal.Seal(s, journal.Link{}, time.Unix(1, 0), []floodmark.Fact{
		floodmark.SessionOpened{Agent: "openclaw"},
		floodmark.TurnOpened{Turn: 1},
		floodmark.ContentSeen{Source: floodmark.Source{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "read", Place: "/p/a\u202e.txt"}, Digest: floodmark.DigestOf("a")}},
		floodmark.ActionDecided{
			Action:   floodmark.Action{Kind: floodmark.CallTool, Call: "c", Tool: floodmark.ToolRef{Agent: "openclaw", Name: "exec"}},
			Decision: floodmark.Decision{Verdict: floodmark.Confirm, Blame: []floodmark.NodeID{0}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}); err != nil {
		t.Fatal(err)
	}
	d := &Desk{Journal: j}
	got, err := d.SessionGraph(t.Context(), httpapi.Identity{}, &wire.SessionGraphRequest{Session: "openclaw:s"})
	if err != nil || len(got.GetNodes()) != 2 || len(got.GetEdges()) != 1 || len(got.GetPaths()) != 1 || got.GetCollapsed() {
		t.Fatalf("%v: %v", err, got)
	}
	src, call := got.GetNodes()[0], got.GetNodes()[1]
	if src.GetKind() != "source" || src.GetDigest() == "" || strings.Contains(src.GetName(), "\u202e") || call.GetDecision() != "openclaw:s#4" || call.GetVerdict() != "confirm" {
		t.Errorf("%v, %v", src, call)
	}
	for name, want := range map[string]error{"openclaw:t": httpapi.ErrNotFound, "": httpapi.ErrInvalid, strings.Repeat("s", 600): httpapi.ErrInvalid} {
		if _, err := d.SessionGraph(t.Context(), httpapi.Identity{}, &wire.SessionGraphRequest{Session: name}); !errors.Is(err, want) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if _, err := d.SessionGraph(t.Context(), httpapi.Identity{Tenant: "other"}, &wire.SessionGraphRequest{Session: "openclaw:s"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("another tenant: %v", err)
	}
	if _, err := d.SessionGraph(t.Context(), httpapi.Identity{}, &wire.SessionGraphRequest{Session: "openclaw:s", Limit: 5001}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("limit: %v", err)
	}
}

// An endless journal repeats the entries of a session.
type endless struct{ journal.Journal }

func (e endless) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for n := range past.MaxFacts + 1 {
			if !yield(journal.Entry{Seq: uint64(n + 1), Kind: "turn-opened", Body: []byte(`{"turn":1}`)}, nil) {
				return
			}
		}
	}
}

// TestALongSessionIsSaidToBe: it is the reader who has to do something else, so it is no internal error.
func TestALongSessionIsSaidToBe(t *testing.T) {
	d := &Desk{Journal: endless{journal.NewMemory()}}
	_, err := d.SessionGraph(t.Context(), httpapi.Identity{}, &wire.SessionGraphRequest{Session: "s"})
	if !errors.Is(err, httpapi.ErrInvalid) || !strings.Contains(err.Error(), "floodmark journal export") {
		t.Errorf("%v", err)
	}
}
