package monitor

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// An index finds where values were seen in one session. It is built on the first lookup, because
// many events need none. From then on it is kept up to date, so that the next call need not wait.
// It belongs to the holder of the seat.
type index struct {
	asked  bool
	places *postings.Memory
	// behind are contents that are not indexed yet.
	behind []placed
	// bare has the nodes of each content without postings.
	bare map[floodmark.Digest][]floodmark.NodeID
	// others are keys, besides the session's own, that contents of the session were indexed under.
	others []provenance.RingKey
}

// A placed is content at a node. Its postings are nil if they are not known yet.
type placed struct {
	node     floodmark.NodeID
	digest   floodmark.Digest
	postings provenance.Postings
}

// placedBytes is the memory of a content that is not indexed yet.
const placedBytes = 64

// newIndex returns the index of a session, not yet filled.
func (m *Monitor) newIndex(l *provenance.Ledger) *index {
	ix := &index{places: postings.NewSpilling(m.cfg.Limits.IndexPlaces, m.spill), bare: map[floodmark.Digest][]floodmark.NodeID{}}
	for src := range l.Sources() {
		if !src.Digest.IsZero() {
			ix.behind = append(ix.behind, placed{node: src.Node, digest: src.Digest})
		}
	}
	return ix
}

// spill creates an unlinked file for the index of a long session. If it fails, the whole index
// stays in memory.
func (m *Monitor) spill() (postings.File, error) {
	if m.cfg.SpillDir == "" {
		return nil, os.ErrNotExist
	}
	f, err := os.CreateTemp(m.cfg.SpillDir, "index-")
	if err == nil {
		if err = os.Remove(f.Name()); err != nil { // on Windows it has to be closed first
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
	return f, err
}

// size returns about how much memory the index takes.
func (ix *index) size() int64 {
	if ix == nil {
		return 0
	}
	return ix.places.Bytes() + int64(len(ix.behind)+len(ix.bare))*placedBytes
}

// add records content at a node. If the content has postings, earlier nodes with the same content
// and no postings get them, too.
func (ix *index) add(p placed) {
	ix.behind = append(ix.behind, p)
	if len(p.postings) == 0 {
		return
	}
	for _, n := range ix.bare[p.digest] {
		ix.behind = append(ix.behind, placed{node: n, digest: p.digest, postings: p.postings})
	}
	delete(ix.bare, p.digest)
}

// A finder is an index for the time of one judgement. The rules cannot report a failed read, so the
// error is kept here and checked afterwards.
type finder struct {
	ctx    context.Context
	m      *Monitor
	tenant string
	ix     *index
	keys   keys
	err    error
}

var _ provenance.Index = (*finder)(nil)

// Find implements [provenance.Index].
func (f *finder) Find(h provenance.Hash, from floodmark.NodeID, most int) []floodmark.Span {
	if f.err != nil {
		return nil
	}
	if len(f.ix.behind) > 0 {
		if f.err = f.fill(); f.err != nil {
			return nil
		}
	}
	spans := f.ix.places.Find(h, from, most)
	f.err = f.ix.places.Err()
	return spans
}

// also returns the keys, besides the session's own, that values have to be looked up under. Content
// that another session saw first may be indexed under that session's key.
func (f *finder) also() ([]provenance.Key, error) {
	if len(f.ix.behind) > 0 {
		if err := f.fill(); err != nil {
			return nil, err
		}
	}
	list := make([]provenance.Key, len(f.ix.others))
	for i, k := range f.ix.others {
		list[i] = k.Key
	}
	return list, nil
}

// fill indexes the contents that are not indexed yet. It takes their postings under the session's
// own key or, if there are none, under another key of the tenant.
func (f *finder) fill() error {
	if err := f.take(f.keys.own); err != nil {
		return err
	}
	for _, k := range f.keys.Besides(f.keys.own.Name) {
		if err := f.take(k); err != nil {
			return err
		}
	}
	for i := range f.ix.behind {
		if f.ix.behind[i].postings == nil {
			f.ix.behind[i].postings = provenance.Postings{}
		}
	}
	f.ix.asked = true
	f.ix.catchUp()
	return nil
}

// take reads the postings under one key of all contents still without them.
func (f *finder) take(k provenance.RingKey) error {
	var want []floodmark.Digest
	asked := map[floodmark.Digest]struct{}{}
	for i := range f.ix.behind {
		p := &f.ix.behind[i]
		if p.postings != nil {
			continue
		}
		name := postingsName(k, p.digest)
		if ps, ok := f.m.contents.get(f.tenant, name); ok {
			f.found(p, k, ps)
		} else if _, again := asked[name]; !again {
			asked[name] = struct{}{}
			want = append(want, name)
		}
	}
	got, err := f.m.postings(f.ctx, f.tenant, want)
	if err != nil || len(got) == 0 {
		return err
	}
	for i := range f.ix.behind {
		if p := &f.ix.behind[i]; p.postings == nil {
			f.found(p, k, got[postingsName(k, p.digest)])
		}
	}
	return nil
}

// found gives a content its postings, and remembers their key.
func (f *finder) found(p *placed, k provenance.RingKey, ps provenance.Postings) {
	p.postings = ps
	if len(ps) > 0 && k.Name != f.keys.own.Name && !slices.Contains(f.ix.others, k) {
		f.ix.others = append(f.ix.others, k)
	}
}

// catchUp indexes the contents whose postings are known. Contents known to have none become bare.
func (ix *index) catchUp() {
	var fresh []postings.Placed
	behind := ix.behind
	ix.behind = nil
	for _, p := range behind {
		switch {
		case p.postings == nil:
			ix.behind = append(ix.behind, p)
		case len(p.postings) == 0:
			ix.bare[p.digest] = append(ix.bare[p.digest], p.node)
		default:
			fresh = append(fresh, postings.Placed{Node: p.node, Postings: p.postings})
		}
	}
	ix.places.AddAll(fresh)
}

// postings reads the indexes of contents from the journal.
func (m *Monitor) postings(ctx context.Context, tenant string, want []floodmark.Digest) (map[floodmark.Digest]provenance.Postings, error) {
	got := make(map[floodmark.Digest]provenance.Postings, len(want))
	for some := range slices.Chunk(want, postingsAtOnce) {
		found, err := m.cfg.Journal.Postings(ctx, tenant, some)
		if err != nil {
			return nil, fmt.Errorf("read the index: %w", err)
		}
		for digest, data := range found {
			var ps provenance.Postings
			if err := ps.UnmarshalBinary(data); err != nil {
				return nil, fmt.Errorf("%w: the index of content %s: %s", journal.ErrBroken, digest.Short(), err.Error())
			}
			got[digest] = ps
			m.contents.put(tenant, digest, ps)
		}
	}
	return got, nil
}

// contents caches the postings of contents across sessions, within a bound of bytes, so that a page
// that many sessions read is indexed once.
type contents struct {
	limit int64

	mu    sync.Mutex // guards all below
	all   map[contentName]*list.Element
	order *list.List // of content, the last used first
	bytes int64
}

type contentName struct {
	tenant string
	digest floodmark.Digest
}

type content struct {
	name     contentName
	postings provenance.Postings
}

const contentBytes = 256 // the memory that a cached content takes besides its postings

func (c content) size() int64 { return contentBytes + int64(len(c.postings))*16 }

func newContents(limit int64) *contents {
	return &contents{limit: limit, all: map[contentName]*list.Element{}, order: list.New()}
}

func (c *contents) get(tenant string, d floodmark.Digest) (provenance.Postings, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.all[contentName{tenant, d}]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	found, _ := e.Value.(content)
	return found.postings, true
}

// put stores the postings of a content. They must not be changed afterwards.
func (c *contents) put(tenant string, d floodmark.Digest, ps provenance.Postings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := contentName{tenant, d}
	if _, ok := c.all[name]; ok {
		return
	}
	added := content{name, ps}
	c.all[name] = c.order.PushFront(added)
	c.bytes += added.size()
	for c.bytes > c.limit {
		last := c.order.Back()
		old, _ := c.order.Remove(last).(content)
		delete(c.all, old.name)
		c.bytes -= old.size()
	}
}
