package telegram

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The notes survive a crash: half a line, a repeated line, garbage.
func TestNotesAfterACrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "notes")
	m, err := openMemo(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []noted{{Kind: kindQuestion, Ticket: "t1", Message: 1}, {Kind: kindQuestion, Ticket: "t2", Message: 2}, {Kind: kindQuestion, Ticket: "t1", Over: true}, {Kind: kindGate, Ticket: "t1", Message: 3}} {
		if err := m.note(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\x00\x00\n[]\n{\"ticket\":\"t3\",\"mess")
	f.Close()
	again, err := openMemo(file)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if again.tag != m.tag || len(again.all()) != 2 {
		t.Errorf("tag %q, was %q; %+v", again.tag, m.tag, again.all())
	}
	if n, ok := again.card(kindQuestion, "t2"); !ok || n.Message != 2 {
		t.Errorf("%+v, %v", n, ok)
	}
	if n, ok := again.card(kindGate, "t1"); !ok || n.Message != 3 {
		t.Errorf("%+v, %v", n, ok)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestNotesAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	m, err := openMemo(file)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for range maxMemoLines {
		for _, over := range []bool{false, true} {
			if err := m.note(noted{Kind: kindQuestion, Ticket: "t", Over: over}); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "\n") > maxMemoLines {
		t.Errorf("%d lines, %v", strings.Count(string(data), "\n"), err)
	}
	if _, err := openMemo(filepath.Join(file, "below")); err == nil {
		t.Error("notes below a file")
	}
}
