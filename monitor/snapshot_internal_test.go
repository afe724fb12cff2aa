package monitor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// A snapshot opens in its own place only.
func TestSnapshotPlace(t *testing.T) {
	type place struct {
		key  provenance.Key
		s    journal.Session
		link journal.Link
	}
	home := place{provenance.Key{1}, journal.Session{Tenant: "a", ID: "bc"}, journal.Link{Seq: 7, Hash: journal.Hash{9}}}
	sealed := sealSnapshot(home.key, home.s, home.link, []byte("state"))
	if _, got, err := openSnapshot(provenance.RingOf(home.key), home.s, home.link, sealed); err != nil || string(got) != "state" {
		t.Fatalf("%q, %v", got, err)
	}
	for name, move := range map[string]func(*place){
		"key":     func(p *place) { p.key[31] = 1 },
		"tenant":  func(p *place) { p.s.Tenant = "" },
		"session": func(p *place) { p.s.ID = "b" },
		"parted":  func(p *place) { p.s.Tenant, p.s.ID = "ab", "c" },
		"number":  func(p *place) { p.link.Seq++ },
		"hash":    func(p *place) { p.link.Hash[31] = 1 },
	} {
		p := home
		move(&p)
		if _, got, err := openSnapshot(provenance.RingOf(p.key), p.s, p.link, sealed); err == nil {
			t.Errorf("%s: it opened as %q", name, got)
		}
	}
}

// A snapshot made without the key does not open.
func FuzzOpenSnapshot(f *testing.F) {
	key, s, link := provenance.Key{1}, journal.Session{ID: "s"}, journal.Link{Seq: 1}
	whole := sealSnapshot(key, s, link, []byte(`{"opened":true}`))
	for _, seed := range [][]byte{nil, {0}, {1}, {2}, whole, whole[:snapshotHead], append(bytes.Clone(whole), 'x')} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, state, err := openSnapshot(provenance.RingOf(key), s, link, data); err == nil && state != nil && !bytes.Equal(data, whole) {
			t.Errorf("%q opened as %q", data, state)
		}
	})
}

// A session that is too large for a snapshot is not written down for nothing again.
func TestASessionTooLargeForASnapshot(t *testing.T) {
	s := &seat{memory: memory{state: kernel.NewState()}}
	if s.snapshot(provenance.Key{}, journal.Link{}) == nil || s.large {
		t.Fatal("a small one is not written")
	}
	for n := range largeSession {
		src := floodmark.Source{Node: floodmark.NodeID(n), Kind: floodmark.NodeInput, Label: floodmark.Clean(), Said: strings.Repeat("x", factjson.MaxBytes/largeSession)}
		if err := s.state.Ledger.Add(src); err != nil {
			t.Fatal(err)
		}
	}
	if s.snapshot(provenance.Key{}, journal.Link{}) != nil || !s.large {
		t.Error("a large one is written")
	}
	if s.drop(); s.large {
		t.Error("a session that is read again is still too large")
	}
}
