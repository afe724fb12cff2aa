package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/internal/store/witness"
	"github.com/floodmark/floodmark/journal"
)

// The generated store is as if a monitor had written it. Every chain and every signed head is
// right, sessions can go on, and a value from a page is recognised as coming from the page.
func TestGenerated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := generate(t.Context(), dir, 600); errors.Is(err, journal.ErrNotDurable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	paths := config.DirPaths(dir)
	keys, err := config.LoadKeys(paths.Keys, "floodmark/journal")
	if err != nil {
		t.Fatal(err)
	}
	j, err := sqlitejournal.Open(t.Context(), paths.Journal, sqlitejournal.Options{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	heads, err := witness.Look(paths.Witness)
	if err != nil {
		t.Fatal(err)
	}
	defer heads.Close()
	evidence := journal.Evidence{Log: heads, Keys: keys.Signing.Verifiers()}
	report, err := journal.Verify(t.Context(), j, evidence, func(journal.Report) {})
	if err != nil || !report.OK() || report.Sessions != 600 {
		t.Fatalf("%+v, %v", report, err)
	}
	rules, err := config.LoadRules(paths.Policy)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMonitor(j, rules.Rules, keys.Index, slowLife(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, i := range []int{0, 7, 498, 499, 599} {
		ev := toolCall(sessionName(i), "x", "send_email", `{"to":"user3@firm.example","body":"hello"}`)
		reply, err := m.Handle(t.Context(), "", ev)
		if err != nil || reply.Decision.Verdict != floodmark.Confirm {
			t.Errorf("session %d: %v, %v", i, reply.Decision, err)
		}
		start, err := j.Begin(t.Context(), journal.Session{ID: sessionName(i)})
		if err != nil || (len(start.Snapshot) > 0) != long(i) {
			t.Errorf("session %d: a snapshot of %d bytes, %v", i, len(start.Snapshot), err)
		}
	}
}
