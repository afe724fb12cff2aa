package monitor

import (
	"bytes"
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// commit makes a job's facts durable, or adds them to a flush. They are applied to the state first,
// so that facts which do not apply are never written: after an error the seat's memory is invalid
// and must be dropped.
func (m *Monitor) commit(ctx context.Context, s *seat, key keys, at time.Time, out *kernel.Output, j job) ([]journal.Entry, passed, error) {
	facts := out.Facts
	for _, f := range s.seen {
		facts = append(facts, f)
	}
	if len(facts) == 0 {
		return m.nothing(ctx, s, at)
	}
	words, err := m.words(s.session, key, out)
	if err != nil {
		return nil, passed{}, err
	}
	if len(words) > 0 {
		facts = append(facts, journal.Kept(words))
	}
	entries, err := journal.Seal(s.session, s.link, at, facts)
	if err != nil {
		return nil, passed{}, err
	}
	if err := s.apply(facts, entries); err != nil {
		return nil, passed{}, err
	}
	batch, fresh, stale, err := m.batch(ctx, s, key, at, out, facts, entries, j.event.Point)
	if err != nil {
		return nil, passed{}, err
	}
	sealWords(&batch, key.seals().Key, words)
	s.link, s.seen = batch.Records[0].Last(), nil
	s.since += len(facts)
	m.learn(s, key.own, facts, fresh)
	if !stale && !j.alone && !m.alone(s, out) {
		f, lead, err := m.seats.gather(ctx, s, batch)
		return entries, passed{flush: f, lead: lead, at: at}, err
	}
	if err := m.appendAlone(ctx, s, batch); err != nil {
		return nil, passed{}, err
	}
	if stale {
		s.drop() // its state contains what was erased
	}
	return entries, passed{at: at}, nil
}

// nothing commits a job without facts. The job's answer follows from earlier facts, so the job
// waits until these are durable.
func (m *Monitor) nothing(ctx context.Context, s *seat, at time.Time) ([]journal.Entry, passed, error) {
	f, err := m.seats.join(s)
	return nil, passed{flush: f, at: at}, err
}

// alone reports whether a job must be durable before the next event is judged: it asks a person,
// begins a session, or may close an open question.
func (m *Monitor) alone(s *seat, out *kernel.Output) bool {
	return out.Ask != nil || len(out.Forks) > 0 || m.asked.any(s.session)
}

// appendAlone writes a batch after all flushes under way, because the batch depends on them.
func (m *Monitor) appendAlone(ctx context.Context, s *seat, b journal.Batch) error {
	if err := m.seats.drain(ctx, s); err != nil {
		return err
	}
	if !m.seats.founded(s) {
		return unfounded()
	}
	return m.cfg.Journal.Append(ctx, b)
}

// overdue is the factor by which more facts must have collected before a call writes a snapshot,
// compared with other events.
const overdue = 4

// batch returns all that a job writes; fresh are the indexes that it adds. stale reports that the
// session was erased meanwhile.
func (m *Monitor) batch(ctx context.Context, s *seat, key keys, at time.Time, out *kernel.Output, facts []floodmark.Fact, entries []journal.Entry, p hook.Point) (
	batch journal.Batch, fresh map[floodmark.Digest]provenance.Postings, stale bool, err error,
) {
	last := entries[len(entries)-1].Link()
	batch.Records = make([]journal.Record, 1, 1+len(out.Forks))
	batch.Records[0] = journal.Record{Session: s.session, After: s.link, Entries: entries}
	// A larger session gets a snapshot less often. So the cost of snapshots for each fact stays the
	// same, and so does the share of the facts that a reader must replay. The agent waits for the
	// decision about a call, so a call leaves the snapshot to a later event unless none comes.
	due := max(m.cfg.Limits.SnapshotFrom, s.kept)
	if p == hook.BeforeToolCall {
		due *= overdue
	}
	if s.since+len(facts) >= due {
		if stale, err = m.erasedSince(ctx, s); err != nil {
			return batch, nil, false, err
		}
		if !stale && !s.large {
			batch.Records[0].Snapshot = s.snapshot(key.own.Key, last)
		}
		s.since, s.kept = -len(facts), s.state.Ledger.Len()
	}
	if err = addForks(&batch, s.session.Tenant, at, out.Forks); err != nil {
		return batch, nil, false, err
	}
	fresh, err = m.addContents(&batch, s.session.Tenant, key, out.Indexed)
	return batch, fresh, stale, err
}

// apply takes facts into the state as a reader of the journal would. Encoding changes text that is
// not UTF-8, so such a fact is read back first.
func (s *seat) apply(facts []floodmark.Fact, entries []journal.Entry) error {
	for i, f := range facts {
		if bytes.Contains(entries[i].Body, []byte(`\ufffd`)) {
			var err error
			if f, err = entries[i].Fact(); err != nil {
				return err
			}
		}
		if err := s.state.Apply(f); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns the sealed state, or nil if it is too large or cannot be encoded. A session
// without a snapshot is read from its entries.
func (s *seat) snapshot(key provenance.Key, link journal.Link) []byte {
	data, err := s.state.Snapshot()
	if err != nil || len(data) > maxSnapshotBytes {
		s.large = s.state.Ledger.Len() >= largeSession
		return nil
	}
	return sealSnapshot(key, s.session, link, data)
}

// erasedSince reports whether a session was erased after it was read here. A snapshot of that state
// would restore what was erased.
func (m *Monitor) erasedSince(ctx context.Context, s *seat) (bool, error) {
	if s.link.Seq == 0 {
		return false, nil
	}
	start, err := m.cfg.Journal.Begin(ctx, s.session)
	if err != nil {
		return false, err
	}
	known := journal.Link{}
	if s.stone != nil {
		known = s.stone.Link
	}
	return start.Tombstone != nil && start.Tombstone.Link != known, nil
}

// addForks adds the first facts of the sessions that this one starts.
func addForks(b *journal.Batch, tenant string, at time.Time, forks []kernel.Fork) error {
	for _, fork := range forks {
		child := journal.Session{Tenant: tenant, ID: fork.Session}
		entries, err := journal.Seal(child, journal.Link{}, at, fork.Facts)
		if err != nil {
			return err
		}
		b.Records = append(b.Records, journal.Record{Session: child, Entries: entries})
	}
	return nil
}

// addContents adds the index of new contents and returns it.
func (m *Monitor) addContents(b *journal.Batch, tenant string, key keys, list []kernel.Indexed) (map[floodmark.Digest]provenance.Postings, error) {
	if len(list) == 0 {
		return nil, nil
	}
	fresh := make(map[floodmark.Digest]provenance.Postings, len(list))
	for _, c := range list {
		if _, again := fresh[c.Digest]; again {
			continue
		}
		name := postingsName(key.own, c.Digest)
		ps, ok := m.contents.get(tenant, name)
		if !ok {
			ps = m.index(key.own.Key, c.Text)
		}
		// The index is written even if it is cached here, because the journal may have deleted it
		// with the last session that had this content.
		data, err := ps.MarshalBinary()
		if err != nil {
			return nil, err
		}
		fresh[c.Digest] = ps
		b.Contents = append(b.Contents, journal.Content{Tenant: tenant, Digest: name, Postings: data})
	}
	return fresh, nil
}

// maxPooled is the length of the largest text after which an indexer is reused. After a larger one
// the indexer is dropped with the memory that it took.
const maxPooled = 1 << 20

// index makes the index of a text.
func (m *Monitor) index(key provenance.Key, text string) provenance.Postings {
	ix, ok := m.indexers.Get().(*provenance.Indexer)
	if !ok {
		ix = new(provenance.Indexer)
	}
	ps := ix.Postings(key, text)
	if len(text) <= maxPooled {
		m.indexers.Put(ix)
	}
	return ps
}

// learn adds the contents that are about to be written to the session's index and to the cache.
func (m *Monitor) learn(s *seat, key provenance.RingKey, facts []floodmark.Fact, fresh map[floodmark.Digest]provenance.Postings) {
	for digest, ps := range fresh {
		m.contents.put(s.session.Tenant, postingsName(key, digest), ps)
	}
	if s.index == nil {
		return
	}
	for _, f := range facts {
		for node, digest := range floodmark.Placed(f) {
			s.index.add(placed{node: node, digest: digest, postings: fresh[digest]})
		}
	}
	if s.index.asked {
		s.index.catchUp()
	}
}
