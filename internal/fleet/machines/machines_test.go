package machines_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/journal"
)

func TestMemory(t *testing.T) {
	machinestest.Run(t, func(*testing.T) machines.Book { return machines.NewMemory() })
}

func laptopKey(t testing.TB) journal.Key {
	t.Helper()
	secret, _, err := journal.NewKey(rand.Reader, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	key, err := journal.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Only entries that a laptop can have sealed are accepted.
func TestCheck(t *testing.T) {
	key, stranger := laptopKey(t), laptopKey(t)
	keys, err := machines.KeyOf(key.Public)
	if err != nil {
		t.Fatal(err)
	}
	all := machinestest.Entries(t, "s", journal.Link{}, 6, "x")
	stone := func(k journal.Key, s floodmark.SessionID, at journal.Link) *journal.Tombstone {
		signed, err := journal.SignTombstone(k.Signer, journal.Tombstone{Session: journal.Session{ID: s}, Link: at, At: 1, Why: "owner"})
		if err != nil {
			t.Fatal(err)
		}
		return &signed
	}
	good := []machines.Upload{
		machinestest.Part("s", all, 0, 6), machinestest.Part("s", all, 3, 6),
		{Session: "s", After: all[1].Link(), Entries: all[2:], Stone: stone(key, "s", all[1].Link())},
		{Session: "s", After: all[1].Link(), Stone: stone(key, "s", all[1].Link())},
	}
	for i, u := range good {
		if err := u.Check(keys); err != nil {
			t.Errorf("good %d: %v", i, err)
		}
	}
	changed := func(change func(*journal.Entry)) machines.Upload {
		u := machinestest.Part("s", append([]journal.Entry{}, all...), 0, 6)
		change(&u.Entries[3])
		return u
	}
	for name, u := range map[string]machines.Upload{
		"empty": {Session: "s"}, "no session": machinestest.Part("", all, 0, 6), "another session": machinestest.Part("t", all, 0, 6),
		"long name": machinestest.Part(floodmark.SessionID(strings.Repeat("s", journal.MaxSessionBytes+1)), all, 0, 6),
		"body":      changed(func(e *journal.Entry) { e.Body = []byte(`{}`) }), "kind": changed(func(e *journal.Entry) { e.Kind = "other" }),
		"time": changed(func(e *journal.Entry) { e.At++ }), "hash": changed(func(e *journal.Entry) { e.Hash[0]++ }), "number": changed(func(e *journal.Entry) { e.Seq++ }),
		"a tombstone's kind": changed(func(e *journal.Entry) { e.Kind = machines.StoneKind }),
		"not the first":      {Session: "s", Entries: all[1:]}, "left out": {Session: "s", Entries: append(all[:2:2], all[3:]...)},
		"stranger's stone": {Session: "s", After: all[1].Link(), Entries: all[2:], Stone: stone(stranger, "s", all[1].Link())},
		"other's stone":    {Session: "s", After: all[1].Link(), Entries: all[2:], Stone: stone(key, "t", all[1].Link())},
		"other place":      {Session: "s", After: all[2].Link(), Entries: all[3:], Stone: stone(key, "s", all[1].Link())},
		"too many":         machinestest.Part("s", machinestest.Entries(t, "s", journal.Link{}, machines.MaxEntries+1, "x"), 0, machines.MaxEntries+1),
		"far away":         {Session: "s", After: journal.Link{Seq: 1<<63 - 10}, Entries: all[:1]},
	} {
		if err := u.Check(keys); !errors.Is(err, machines.ErrBad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := machinestest.Part("s", machinestest.Entries(t, "s", journal.Link{}, machines.MaxEntries, "x"), 0, machines.MaxEntries).Check(keys); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"anna's laptop": true, strings.Repeat("x", machines.MaxNameBytes): true, strings.Repeat("x", machines.MaxNameBytes+1): false,
		"": false, " x": false, "a\nb": false, "a\u202eb": false, "\xff": false,
	} {
		if err := machines.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := machines.KeyOf("nonsense"); err == nil {
		t.Error("nonsense is a key")
	}
}
