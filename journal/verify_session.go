package journal

import (
	"context"
	"errors"
	"fmt"
)

// checkSession verifies one session. If it finds a problem, it reads the session again before it
// reports it, because the session may have been erased during the first read.
func (v *verification) checkSession(ctx context.Context, h Head, signed *signedSession) error {
	var look *sessionLook
	for range 2 {
		look = &sessionLook{v: v, session: h.Session, head: h, signed: signed}
		if err := look.run(ctx); err != nil {
			return fmt.Errorf("verify session %s: %w", plain(h.Session), err)
		}
		if look.found.Found == 0 {
			break
		}
	}
	r := &v.report
	if look.there {
		r.Sessions++
	}
	if look.erased {
		r.Erased++
	}
	r.Entries += look.entries
	r.Unsigned += look.unsigned()
	r.Found += look.found.Found
	r.Findings = append(r.Findings, look.found.Findings...)
	r.Findings = r.Findings[:min(len(r.Findings), MaxFindings)]
	return nil
}

// A sessionLook is one reading of one session.
type sessionLook struct {
	v       *verification
	session Session
	head    Head
	signed  *signedSession

	there   bool // some of it exists
	erased  bool
	base    Link // the last entry that was erased
	prev    Link // the entry read last
	said    bool // it was reported that erased entries are still there
	entries int64
	room    []byte // for hashing
	found   Report
}

func (l *sessionLook) find(kind FindingKind, seq uint64, format string, args ...any) {
	if l.found.Found < maxSessionFindings {
		l.found.find(kind, l.session, seq, format, args...)
	}
}

func (l *sessionLook) run(ctx context.Context) error {
	start, err := l.v.journal.Begin(ctx, l.session)
	if err != nil {
		return l.unreadable(ctx, 0, err)
	}
	if start.Tombstone != nil {
		l.stone(*start.Tombstone)
	}
	for e, err := range l.v.journal.Read(ctx, l.session, 0) {
		if err != nil {
			return l.unreadable(ctx, l.prev.Seq+1, err)
		}
		l.there = true
		l.entries++
		l.entry(e, start)
		if done := l.v.report.Entries + l.entries; done-l.v.told >= tellEntries {
			l.v.told = done
			now := l.v.report
			now.Entries = done
			l.v.tell(now)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.end(start)
	return nil
}

// unreadable records that the rest of the session cannot be read. Other sessions may be whole, so
// the verification goes on, unless it was cancelled.
func (l *sessionLook) unreadable(ctx context.Context, seq uint64, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	l.there = true
	l.find(Unreadable, seq, "session %s cannot be read from entry %d on: %v", plain(l.session), max(seq, 1), err)
	return nil
}

func (l *sessionLook) stone(t Tombstone) {
	l.there, l.erased = true, true
	l.base, l.prev = t.Link, t.Link
	l.v.words.erased[l.session.Tenant] = max(l.v.words.erased[l.session.Tenant], t.At)
	err := CheckTombstone(l.v.evidence.Keys, t)
	if err == nil && t.Session != l.session {
		err = fmt.Errorf("it is the tombstone of session %s", plain(t.Session))
	}
	if err != nil {
		l.find(Forged, t.Link.Seq, "entries 1 to %d of session %s were erased, but the tombstone does not count: %v", t.Link.Seq, plain(l.session), err)
		return
	}
	if s, ok := l.signed.at(t.Link.Seq); ok && s.link != t.Link {
		l.find(Rewritten, t.Link.Seq, "the tombstone of session %s stands for another entry %d than the one a signed checkpoint of %s saw", plain(l.session), t.Link.Seq, l.v.when(s))
	}
}

// entry verifies one entry: its hash, then its place in the chain.
func (l *sessionLook) entry(e Entry, start Start) {
	if e.Seq <= l.base.Seq && l.prev == l.base {
		if !l.said {
			l.find(NotErased, e.Seq, "entry %d of session %s is still there, although a tombstone says that it was erased", e.Seq, plain(l.session))
		}
		l.said = true
		return
	}
	var sum Hash
	sum, l.room = e.sum(l.room[:0])
	want := l.prev.Hash
	if l.prev.Seq == 0 {
		want = Genesis(l.session)
	}
	name := plain(l.session)
	switch {
	case sum != e.Hash:
		l.find(Changed, e.Seq, "entry %d of session %s was changed", e.Seq, name)
	case e.Seq > l.prev.Seq+1:
		l.find(Missing, l.prev.Seq+1, "entries %d to %d of session %s are missing", l.prev.Seq+1, e.Seq-1, name)
	case e.Seq <= l.prev.Seq:
		l.find(Changed, e.Seq, "entry %d of session %s stands where entry %d belongs", e.Seq, name, l.prev.Seq+1)
	case e.Prev != want:
		l.find(Changed, e.Seq, "entry %d of session %s does not follow the one before it: one of the two was changed, or belongs elsewhere", e.Seq, name)
	default:
		l.place(e, start)
		if err := l.v.words.entry(l.session, e); err != nil {
			l.find(Unreadable, e.Seq, "entry %d of session %s: %v", e.Seq, name, err)
		}
	}
	l.prev = e.Link()
}

// place compares a valid entry with the checkpoints and the snapshot.
func (l *sessionLook) place(e Entry, start Start) {
	if s, ok := l.signed.at(e.Seq); ok && s.link != e.Link() {
		l.find(Rewritten, e.Seq, "entry %d of session %s is not the one a signed checkpoint of %s saw: the session was rewritten", e.Seq, plain(l.session), l.v.when(s))
	}
	if l.head.Link.Seq == e.Seq && l.head.Link != e.Link() {
		l.find(Changed, e.Seq, "entry %d of session %s is not the one the journal's own list of sessions names", e.Seq, plain(l.session))
	}
	if len(start.Snapshot) > 0 && start.Link.Seq == e.Seq && start.Link != e.Link() {
		l.find(Changed, e.Seq, "the snapshot of session %s belongs to another entry %d", plain(l.session), e.Seq)
	}
}

// end reports what is missing at the end.
func (l *sessionLook) end(start Start) {
	name, last := plain(l.session), l.prev.Seq
	if s, ok := l.signed.last(); ok && s.link.Seq > last {
		if !l.there {
			l.find(Gone, 0, "session %s is gone: a signed checkpoint of %s saw %d entries of it", name, l.v.when(s), s.link.Seq)
		} else {
			l.find(TailGone, last+1, "session %s ends at %d but a signed checkpoint of %s saw %d: the tail is gone", name, last, l.v.when(s), s.link.Seq)
		}
		return
	}
	listed := l.head.Link.Seq
	if len(start.Snapshot) > 0 {
		listed = max(listed, start.Link.Seq)
	}
	switch {
	case listed > last && !l.there:
		l.find(Gone, 0, "session %s is gone: the journal lists it with %d entries and has none", name, listed)
	case listed > last:
		l.find(TailGone, last+1, "session %s ends at %d but the journal's own list says %d: the tail is gone", name, last, listed)
	case len(start.Snapshot) > 0 && start.Link.Seq <= l.base.Seq:
		l.find(NotErased, start.Link.Seq, "a snapshot of session %s is still there, although a tombstone says that it was erased", name)
	}
}

// unsigned returns how many entries are after the last checkpoint.
func (l *sessionLook) unsigned() int64 {
	seen := l.base.Seq
	if s, ok := l.signed.last(); ok {
		seen = max(seen, s.link.Seq)
	}
	if l.prev.Seq <= seen {
		return 0
	}
	return int64(l.prev.Seq - seen)
}
