package journal

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// KeptKind is the kind of [floodmark.ArtifactsKept] on disk.
const KeptKind = "artifacts-kept"

// A KeptLister is a store that can list the entries of [KeptKind] of all sessions without reading
// any other entries. Not every store can.
type KeptLister interface {
	KeptEntries(ctx context.Context) iter.Seq2[Placed, error]
}

// A Placed is an entry and the session it belongs to. It may lack its hashes.
type Placed struct {
	Session Session
	Entry   Entry
}

// KeptEntries implements [KeptLister].
func (m *Memory) KeptEntries(ctx context.Context) iter.Seq2[Placed, error] {
	return func(yield func(Placed, error) bool) {
		for h, err := range m.Heads(ctx, 0) {
			if err != nil {
				yield(Placed{}, err)
				return
			}
			for e, err := range m.Read(ctx, h.Session, 0) {
				if (err != nil || e.Kind == KeptKind) && !yield(Placed{h.Session, e}, err) || err != nil {
					return
				}
			}
		}
	}
}

// Kept returns the fact that records artifacts written and removed with an entry.
func Kept(words []Artifact) floodmark.ArtifactsKept {
	var f floodmark.ArtifactsKept
	for _, a := range words {
		if a.Gone() {
			f.Gone = append(f.Gone, floodmark.ArtifactGone{Key: a.Key, Version: floodmark.ArtifactVersion{Session: a.Session, Seq: a.Seq}})
		} else {
			f.Left = append(f.Left, a.Key)
		}
	}
	return f
}

// LostArtifacts compares the stored artifacts with the entries that record them. If one seems lost,
// it verifies the whole journal to be sure. It returns one finding for each session that lost
// artifacts. A journal that is not a [KeptLister] is not checked.
func LostArtifacts(ctx context.Context, j Journal) ([]Finding, error) {
	list, ok := j.(KeptLister)
	if !ok {
		return nil, nil
	}
	w := newWords()
	for p, err := range list.KeptEntries(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list what sessions left behind: %w", err)
		}
		if err := w.entry(p.Session, p.Entry); err != nil {
			return nil, err
		}
	}
	if lost, err := w.lost(ctx, j); err != nil || len(lost) == 0 {
		return nil, err
	}
	r, err := Verify(ctx, j, Evidence{}, nil)
	return slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Kind != ArtifactGone }), err
}

// CheckArtifacts returns an error with a remedy if [LostArtifacts] finds any. A monitor then
// refuses to start, because files that were written after foreign content was read would be taken
// for clean.
func CheckArtifacts(ctx context.Context, j Journal) error {
	lost, err := LostArtifacts(ctx, j)
	if err != nil || len(lost) == 0 {
		return err
	}
	return fmt.Errorf("%s; %d sessions lost such words, «floodmark journal verify --offline» lists them: restore the journal from a backup, or move it away to begin a new one",
		lost[0].Text, len(lost))
}

// A wordName names one session's artifact.
type wordName struct {
	tenant  string
	key     floodmark.Digest
	session floodmark.SessionID
}

// A word is the newest recorded version of an artifact: the entry it was written with, and when.
type word struct {
	seq uint64
	at  int64
}

// words collects the artifacts that entries record. Entries name each version they write or remove,
// so sessions can be read in any order, and an entry more than once.
type words struct {
	left   map[wordName]word
	gone   map[wordName]uint64 // removed up to this version
	erased map[string]int64    // when a tenant's session was last erased
}

func newWords() *words {
	return &words{left: map[wordName]word{}, gone: map[wordName]uint64{}, erased: map[string]int64{}}
}

// entry adds what an entry records.
func (w *words) entry(s Session, e Entry) error {
	if e.Kind != KeptKind {
		return nil
	}
	f, err := e.Fact()
	if err != nil {
		return err
	}
	kept, _ := f.(floodmark.ArtifactsKept)
	for _, key := range kept.Left {
		n := wordName{s.Tenant, key, s.ID}
		if w.left[n].seq < e.Seq {
			w.left[n] = word{e.Seq, e.At}
		}
	}
	for _, g := range kept.Gone {
		n := wordName{s.Tenant, g.Key, g.Version.Session}
		upTo := g.Version.Seq
		if g.Version.Session == s.ID {
			upTo = min(upTo, e.Seq-1) // a session removes only what it wrote with earlier entries
		}
		w.gone[n] = max(w.gone[n], upTo)
	}
	return nil
}

// lost returns the artifacts that should be stored and are not. An erased session may have taken
// over artifacts, and no entry tells which, so artifacts older than the tenant's last erasure are
// not reported.
func (w *words) lost(ctx context.Context, j Journal) ([]wordName, error) {
	keys := map[string][]floodmark.Digest{}
	want := map[wordName]word{}
	for n, at := range w.left {
		if w.gone[n] < at.seq && w.erased[n.tenant] < at.at {
			want[n] = at
			keys[n.tenant] = append(keys[n.tenant], n.key)
		}
	}
	for tenant, list := range keys {
		slices.SortFunc(list, func(a, b floodmark.Digest) int { return slices.Compare(a[:], b[:]) })
		for some := range slices.Chunk(slices.Compact(list), wordsAtOnce) {
			found, err := j.Artifacts(ctx, tenant, some)
			if err != nil {
				return nil, fmt.Errorf("read what sessions left behind: %w", err)
			}
			for _, a := range found {
				n := wordName{tenant, a.Key, a.Session}
				if at, ok := want[n]; ok && a.Seq >= at.seq {
					delete(want, n)
				}
			}
		}
	}
	names := make([]wordName, 0, len(want))
	for n := range want {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b wordName) int {
		return strings.Compare(a.tenant+"/"+string(a.session), b.tenant+"/"+string(b.session))
	})
	return names, nil
}

// wordsAtOnce is how many keys are looked up at once.
const wordsAtOnce = 1024

// checkWords compares stored artifacts with the entries. Sessions may be written meanwhile, so new
// entries are read before a loss is reported.
func (v *verification) checkWords(ctx context.Context) error {
	for range 3 {
		lost, err := v.words.lost(ctx, v.journal)
		if err != nil {
			return err
		}
		lost = slices.DeleteFunc(lost, func(n wordName) bool {
			return v.evidence.Only != nil && !v.evidence.Only(Session{Tenant: n.tenant}) // sessions outside the selection may have taken the artifact over
		})
		more := false
		if len(lost) > 0 {
			if more, err = v.readOn(ctx); err != nil {
				return err
			}
		}
		if !more {
			v.tellLost(lost)
			return nil
		}
	}
	return nil // too busy; the next check will tell
}

// readOn reads what was written since the sessions were listed, and reports whether there was
// anything.
func (v *verification) readOn(ctx context.Context) (more bool, err error) {
	for h, err := range v.journal.Heads(ctx, max(v.newest, 1)) {
		if err != nil {
			return false, fmt.Errorf("list the sessions: %w", err)
		}
		v.newest, more = max(v.newest, h.Mark), true
		start, err := v.journal.Begin(ctx, h.Session)
		if err != nil {
			return false, err
		}
		if start.Tombstone != nil {
			v.words.erased[h.Session.Tenant] = max(v.words.erased[h.Session.Tenant], start.Tombstone.At)
		}
		for e, err := range v.journal.Read(ctx, h.Session, 0) {
			if err != nil {
				return false, err
			}
			if err := v.words.entry(h.Session, e); err != nil {
				return false, err
			}
		}
	}
	return more, ctx.Err()
}

func (v *verification) tellLost(lost []wordName) {
	for len(lost) > 0 {
		s := Session{Tenant: lost[0].tenant, ID: lost[0].session}
		n := 0
		for n < len(lost) && lost[n].tenant == s.Tenant && lost[n].session == s.ID {
			n++
		}
		v.report.find(ArtifactGone, s, v.words.left[lost[0]].seq,
			"what session %s left behind is gone from the journal's table of artifacts (%d of its words): files it wrote may count as clean", plain(s), n)
		lost = lost[n:]
	}
}
