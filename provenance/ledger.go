package provenance

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/believed"
	"github.com/floodmark/floodmark/internal/ledger/packed"
)

// MaxSources bounds the sources of one session. A loop that runs day and night
// and reads something every second needs three days to get there.
const MaxSources = 1 << 18

// usualSources is how many sources most sessions have.
const usualSources = 16

// ErrSources says that a session already has [MaxSources] sources.
var ErrSources = errors.New("session has too many sources")

// A Ledger holds every source of one session and knows its mark. Sources are
// only added, and a source's inputs are older than itself, so there are no
// cycles. The zero Ledger is empty and ready.
//
// What follows from the sources (effective labels, the mark, the digests) is
// kept beside them and brought up to date by every change, so that reading is
// cheap and two ledgers with the same history are deeply equal.
type Ledger struct {
	packed   packed.Sources
	entries  []entry              // one for each source
	endorsed []floodmark.Endorsed // at most one for each digest, the latest last
	digests  map[floodmark.Digest]floodmark.NodeID
	pending  []floodmark.NodeID // oldest first
	apart    []floodmark.NodeID // the sources that [Ledger.Set] lists one by one
	stands   []byte             // see [entry.standing]
	live     believed.Book
}

// An entry holds what follows from one source, and the state of the session after it. There is one
// for each source, so it is kept small.
type entry struct {
	upTo
	// since is the node that was next when the source became live again or less trusted; 0 if it
	// never did.
	since int32
	// dead means that a person emptied the context after the source came in.
	dead bool

	own       floodmark.Trust // without its inputs, see [Ledger.own]
	effective floodmark.Label
}

// upTo holds what follows from a source and all older ones together.
type upTo struct {
	all, mark floodmark.Label // join of the effective labels of all sources, and of the live ones
	levels    Levels          // the trust levels of the live sources
	here      floodmark.Label // join of the effective labels of the live sources that have arrived
	links     int             // how many links are in all sources
	cleared   bool            // a source is dead
	heirs     bool            // a dead source may lower the trust of a live one
	apart     uint8           // how many of the sources are in [Ledger.apart]
	rest      floodmark.Label // join of the own labels of the others
}

// Add appends a source. Its node must be [Ledger.Len] and its inputs older.
// With an error the ledger is as it was.
func (l *Ledger) Add(s floodmark.Source) error {
	n := len(l.entries)
	switch {
	case n >= MaxSources:
		return fmt.Errorf("%w: %d", ErrSources, n)
	case int(s.Node) != n:
		return fmt.Errorf("source %d: want node %d", s.Node, n)
	case !s.Label.Valid():
		return fmt.Errorf("source %d: label %v", s.Node, s.Label)
	}
	if err := checkInputs(s.Node, s.Inputs); err != nil {
		return err
	}
	s.Inputs = mergeInputs(nil, s.Inputs)
	l.packed.Add(s)
	l.entries = append(l.entries, entry{})
	if s.Call != "" {
		l.pending = append(l.pending, s.Node)
	}
	l.learn(s.Node, s.Digest)
	l.settle(s.Node)
	return nil
}

// AddAll adds several sources, such as another session's, or none of them: with
// an error the ledger is as it was.
func (l *Ledger) AddAll(sources []floodmark.Source) error {
	first := len(l.entries)
	for _, s := range sources {
		if err := l.Add(s); err != nil {
			l.cut(first)
			return err
		}
	}
	return nil
}

// Arrive records what an announced source turned out to be. Its label is joined with the
// announced one, so it can only sink. A source that was announced before the context was
// emptied and arrives afterwards is live. With an error the ledger is as it was.
func (l *Ledger) Arrive(f floodmark.ContentArrived) error {
	at := slices.Index(l.pending, f.Node)
	switch {
	case at < 0:
		return fmt.Errorf("content of source %d was not announced", f.Node)
	case !f.Label.Valid():
		return fmt.Errorf("source %d: label %v", f.Node, f.Label)
	}
	if err := checkInputs(f.Node, f.Inputs); err != nil {
		return err
	}
	e := &l.entries[f.Node]
	was := e.effective.Trust
	s := l.packed.At(f.Node)
	if !f.Digest.IsZero() {
		s.Digest = f.Digest
	}
	s.Label = s.Label.Join(f.Label)
	s.Inputs = mergeInputs(s.Inputs, f.Inputs)
	s.Call, s.Links = "", f.Links
	s.Secrets = append(s.Secrets, f.Secrets...)
	l.packed.Put(f.Node, s)
	l.pending = orNil(slices.Delete(l.pending, at, at+1))
	l.learn(f.Node, s.Digest)
	l.revive(e)
	l.settle(f.Node)
	if e.effective.Trust < was {
		e.since = int32(len(l.entries)) // a call that was judged before saw a higher trust, so the source is new to it
		l.settle(f.Node)
	}
	return nil
}

// Endorse records that the owner vouches for content with exactly this digest. That
// raises the own trust of sources with this digest, at most to Local. It lowers no
// trust, changes no secrecy, and does not raise what such a source was made from.
func (l *Ledger) Endorse(f floodmark.Endorsed) {
	if f.Digest.IsZero() { // unknown content cannot be endorsed
		return
	}
	l.forget(f.Digest)
	l.endorsed = append(l.endorsed, f)
	l.settle(0)
}

// Withdraw takes an endorsement back. What it had raised sinks again.
func (l *Ledger) Withdraw(d floodmark.Digest) {
	l.forget(d)
	l.settle(0)
}

// Clear records that a person emptied the context: the sources so far are no
// longer live. They stay known, because what was read from them may come back.
func (l *Ledger) Clear() {
	for i := range l.entries {
		l.entries[i].dead = true
		l.entries[i].since = 0
	}
	l.settle(0)
}

// Mark returns the join of the effective labels of all live sources. Without
// live sources it is clean.
func (l *Ledger) Mark() floodmark.Label { return l.before(len(l.entries)).mark }

// Lowest returns the join of the effective labels of all sources, live or not.
func (l *Ledger) Lowest() floodmark.Label { return l.before(len(l.entries)).all }

// Levels returns the trust levels present among the live sources.
func (l *Ledger) Levels() Levels { return l.before(len(l.entries)).levels }

// Len returns the number of sources, which is the next node.
func (l *Ledger) Len() int { return len(l.entries) }

// Source returns the source of node n. Its inputs belong to the ledger.
func (l *Ledger) Source(n floodmark.NodeID) (s floodmark.Source, known bool) {
	if known = l.has(n); known {
		s = l.packed.At(n)
	}
	return s, known
}

// Live reports whether node n is known and live, so that its label is in the mark.
func (l *Ledger) Live(n floodmark.NodeID) bool { return l.has(n) && !l.entries[n].dead }

// Effective returns the label of node n: its own, raised by an endorsement of
// its content, joined with those of its inputs. An unknown node has the zero
// label.
func (l *Ledger) Effective(n floodmark.NodeID) (e floodmark.Label) {
	if l.has(n) {
		e = l.entries[n].effective
	}
	return e
}

// Find returns the oldest node with this content.
func (l *Ledger) Find(d floodmark.Digest) (floodmark.NodeID, bool) {
	n, ok := l.digests[d]
	return n, ok
}

// Pending returns the newest node that a call announced and that has not
// arrived.
func (l *Ledger) Pending(c floodmark.CallID) (floodmark.NodeID, bool) {
	for _, n := range slices.Backward(l.pending) {
		if l.packed.At(n).Call == c {
			return n, true
		}
	}
	return 0, false
}

// Endorsements returns what the owner vouched for and did not withdraw.
func (l *Ledger) Endorsements() []floodmark.Endorsed { return slices.Clone(l.endorsed) }

// Same returns the oldest source that is the same as s.
func (l *Ledger) Same(s *floodmark.Source) (floodmark.NodeID, bool) {
	n, ok := l.Find(s.Digest)
	if ok && l.same(n, s) || !ok && !s.Digest.IsZero() {
		return n, ok
	}
	return l.live.Twin(func(n floodmark.NodeID) bool { return l.same(n, s) })
}

func (l *Ledger) same(n floodmark.NodeID, s *floodmark.Source) bool {
	if g := l.packed.Gist(n); g.Digest != s.Digest || g.Label != s.Label {
		return false
	}
	have := l.packed.At(n)
	return SameSource(&have, s)
}

// Links returns how many links are in all sources.
func (l *Ledger) Links() int { return l.before(len(l.entries)).links }

// Secret returns the sources that are secret by themselves, oldest first, live or not.
func (l *Ledger) Secret() []floodmark.NodeID { return slices.Clone(l.live.Secret) }

// Sources returns all sources, oldest first, live or not.
func (l *Ledger) Sources() iter.Seq[floodmark.Source] { return l.packed.All() }

func (l *Ledger) has(n floodmark.NodeID) bool { return n >= 0 && int(n) < len(l.entries) }

func (l *Ledger) revive(e *entry) {
	if e.dead {
		e.dead, e.since = false, int32(len(l.entries))
	}
}

// before returns what follows from the sources before a node.
func (l *Ledger) before(n int) upTo {
	if n == 0 {
		return upTo{all: floodmark.Clean(), mark: floodmark.Clean(), here: floodmark.Clean(), rest: floodmark.Clean()}
	}
	return l.entries[n-1].upTo
}

// settle brings everything that follows from the sources up to date, from node
// n on. What follows from older sources does not depend on node n.
func (l *Ledger) settle(n floodmark.NodeID) {
	at := l.before(int(n))
	l.apart, l.stands = orNil(l.apart[:at.apart]), orNil(l.stands[:n])
	l.live.Cut(n)
	for i := int(n); i < len(l.entries); i++ {
		e, id := &l.entries[i], floodmark.NodeID(i)
		s := l.packed.Gist(id)
		own := l.own(&s)
		l.live.Note(id, own.Secrecy == floodmark.Secret, s.Digest.IsZero() || l.digests[s.Digest] != id)
		at.links += s.Links
		heir := s.Whole && at.cleared
		e.own, e.effective = own.Trust, own
		if s.Whole {
			e.effective = e.effective.Join(at.all)
		}
		for _, in := range s.Inputs {
			e.effective = e.effective.Join(l.entries[in].effective)
			heir = heir || l.entries[in].dead
		}
		at.all = at.all.Join(e.effective)
		if at.cleared = at.cleared || e.dead; !e.dead {
			at.mark = at.mark.Join(e.effective)
			at.levels |= level(e.effective.Trust)
			at.heirs = at.heirs || heir && e.effective.Trust < own.Trust
			l.live.Add(id, floodmark.NodeID(e.since), own.Trust, e.effective)
			if !s.Waits {
				at.here = at.here.Join(e.effective)
			}
		}
		at.rest = l.part(id, &s, at.rest)
		at.apart = uint8(len(l.apart))
		e.upTo, l.stands = at, append(l.stands, e.standing())
	}
}

// own returns a source's own label, raised if the owner vouched for exactly
// this content. What has not arrived cannot be vouched for.
func (l *Ledger) own(s *packed.Gist) floodmark.Label {
	label := s.Own()
	if len(l.endorsed) == 0 || s.Waits || s.Digest.IsZero() {
		return label
	}
	for i := range l.endorsed {
		if l.endorsed[i].Digest == s.Digest {
			label.Trust = max(label.Trust, min(l.endorsed[i].Trust, floodmark.Local))
		}
	}
	return label
}

// learn remembers the oldest node of a content.
func (l *Ledger) learn(n floodmark.NodeID, d floodmark.Digest) {
	if d.IsZero() {
		return
	}
	if l.digests == nil {
		l.digests = make(map[floodmark.Digest]floodmark.NodeID, usualSources)
	}
	if old, ok := l.digests[d]; !ok || n < old {
		l.digests[d] = n
	}
}

func (l *Ledger) forget(d floodmark.Digest) {
	l.endorsed = orNil(slices.DeleteFunc(l.endorsed, func(f floodmark.Endorsed) bool { return f.Digest == d }))
}

// cut drops the sources from node n on, which nothing refers to yet.
func (l *Ledger) cut(n int) {
	for i := n; i < len(l.entries); i++ {
		d := l.packed.Gist(floodmark.NodeID(i)).Digest
		if at, ok := l.digests[d]; ok && int(at) == i {
			delete(l.digests, d)
		}
	}
	l.packed.Cut(floodmark.NodeID(n))
	if len(l.digests) == 0 {
		l.digests = nil
	}
	l.entries = orNil(slices.Delete(l.entries, n, len(l.entries)))
	l.pending = orNil(slices.DeleteFunc(l.pending, func(p floodmark.NodeID) bool { return int(p) >= n }))
	l.settle(floodmark.NodeID(n))
}

func checkInputs(n floodmark.NodeID, inputs []floodmark.NodeID) error {
	for _, in := range inputs {
		if in < 0 || in >= n {
			return fmt.Errorf("source %d: input %d is not older", n, in)
		}
	}
	return nil
}

// mergeInputs returns both lists as one, each node once, in a slice of its own.
func mergeInputs(have, more []floodmark.NodeID) []floodmark.NodeID {
	merged := slices.Concat(have, more)
	slices.Sort(merged)
	return slices.Compact(merged)
}

// orNil makes an empty slice nil, as it is after decoding.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
