package journal

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// A signedSession is what checkpoints say about one session.
type signedSession struct {
	heads   []signedHead // in ascending order of entries
	visited bool
}

type signedHead struct {
	link       Link
	checkpoint int32 // index of the first checkpoint that covers it
}

// at returns what was signed about entry seq.
func (s *signedSession) at(seq uint64) (signedHead, bool) {
	i, ok := slices.BinarySearchFunc(s.heads, seq, func(h signedHead, seq uint64) int { return cmp.Compare(h.link.Seq, seq) })
	if !ok {
		return signedHead{}, false
	}
	return s.heads[i], true
}

// last returns the latest signed head.
func (s *signedSession) last() (signedHead, bool) {
	if len(s.heads) == 0 {
		return signedHead{}, false
	}
	return s.heads[len(s.heads)-1], true
}

// readNotes collects the valid checkpoints.
func (v *verification) readNotes(ctx context.Context) error {
	var number, size int64
	for signed, err := range v.evidence.Log.Notes(ctx) {
		if err != nil {
			return err
		}
		number++
		c, ok := v.open(signed, number)
		if !ok {
			continue
		}
		if c.Size < size {
			v.report.findLog(LogDamaged, "checkpoint %d counts %d heads, one before it %d: the checkpoints are not in order, or the newest was replaced by an old one", number, c.Size, size)
		}
		size = max(size, c.Size)
	}
	for _, signed := range v.evidence.Held {
		number++
		v.open(signed, number)
	}
	slices.SortStableFunc(v.checkpoints, func(a, b Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	v.report.Checkpoints = int64(len(v.checkpoints))
	if n := len(v.checkpoints); n > 0 {
		v.report.Newest = v.checkpoints[n-1].At
	}
	return nil
}

func (v *verification) open(signed []byte, number int64) (Checkpoint, bool) {
	c, err := OpenCheckpoint(v.evidence.Keys, signed)
	if err != nil {
		v.report.findLog(Forged, "checkpoint %d does not count: %v", number, err)
		return Checkpoint{}, false
	}
	if v.evidence.Store != "" && c.Store != v.evidence.Store {
		v.report.findLog(Forged, "checkpoint %d does not count: it is about store %q, not %q", number, c.Store, v.evidence.Store)
		return Checkpoint{}, false
	}
	v.checkpoints = append(v.checkpoints, c)
	return c, true
}

// checkTree compares the leaves with every signed root. It stops at the first mismatch, and ignores
// all leaves after the last match.
func (v *verification) checkTree(ctx context.Context) error {
	rest := v.checkpoints
	var t tree
	matches := func() bool {
		for len(rest) > 0 && rest[0].Size == t.size {
			if rest[0].Root != t.root() {
				v.report.findLog(LogDamaged, "the log of heads was changed: its first %d heads are not those a checkpoint of %s signed", t.size, minute(rest[0].At))
				return false
			}
			v.trusted = t.size
			rest = rest[1:]
		}
		return true
	}
	defer func() { v.report.Leaves = v.trusted }()
	if !matches() {
		return nil
	}
	if len(rest) == 0 {
		return v.checkRest(ctx)
	}
	for line, err := range v.evidence.Log.Leaves(ctx, 0) {
		if err != nil {
			return err
		}
		t.add(line)
		if !matches() {
			return nil
		}
		if len(rest) == 0 {
			return v.checkRest(ctx)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	v.report.findLog(LogDamaged, "the log of heads ends after %d heads, but a checkpoint of %s signed %d: its tail is gone", t.size, minute(rest[0].At), rest[0].Size)
	return nil
}

// checkRest checks the leaves after the newest checkpoint.
func (v *verification) checkRest(ctx context.Context) error {
	alone, err := ofOneStep(ctx, v.evidence.Log, v.trusted)
	if alone || err != nil || v.report.Found > 0 { // invalid checkpoints, reported above, explain the extra leaves
		return err
	}
	// New checkpoints may have been made since they were read.
	signed, err := v.evidence.Log.Newest(ctx)
	if err != nil {
		return err
	}
	if c, err := OpenCheckpoint(v.evidence.Keys, signed); err == nil && c.Size > v.trusted {
		return nil
	}
	v.report.findLog(LogDamaged, "the newest checkpoints are gone: behind head %d, the last that was signed, stand heads of several", v.trusted)
	return nil
}

// readLeaves collects the signed heads of this round's sessions.
func (v *verification) readLeaves(ctx context.Context) (map[Session]*signedSession, error) {
	signed := map[Session]*signedSession{}
	if v.trusted == 0 {
		return signed, nil
	}
	var number int64
	checkpoint := 0
	for line, err := range v.evidence.Log.Leaves(ctx, 0) {
		if err != nil {
			return nil, err
		}
		for v.checkpoints[checkpoint].Size <= number {
			checkpoint++
		}
		number++
		leaf, err := ParseLeaf(line)
		if err != nil {
			if v.part == 0 {
				v.report.findLog(LogDamaged, "head %d was signed but cannot be read: %v", number, err)
			}
		} else if v.mine(leaf.Session) {
			v.expect(signed, leaf, int32(checkpoint))
		}
		if number == v.trusted {
			return signed, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.report.findLog(LogDamaged, "the log of heads became shorter while it was read")
	return signed, nil
}

func (v *verification) expect(signed map[Session]*signedSession, leaf Leaf, checkpoint int32) {
	s := signed[leaf.Session]
	if s == nil {
		s = &signedSession{}
		signed[leaf.Session] = s
	}
	last, ok := s.last()
	switch {
	case !ok || leaf.Link.Seq > last.link.Seq:
		s.heads = append(s.heads, signedHead{link: leaf.Link, checkpoint: checkpoint})
	case leaf.Link != last.link:
		v.report.find(Rewritten, leaf.Session, leaf.Link.Seq, "session %s stood at entry %d in the checkpoint of %s and at another entry %d in that of %s: it was set back in between",
			plain(leaf.Session), last.link.Seq, v.when(last), leaf.Link.Seq, minute(v.checkpoints[checkpoint].At))
	}
}

// when returns the time of the first checkpoint with a head.
func (v *verification) when(h signedHead) string { return minute(v.checkpoints[h.checkpoint].At) }

// A tree holds the right edge of the Merkle tree over the leaves, which is enough to add a leaf and
// to compute the root.
type tree struct {
	size int64
	edge []tlog.Hash // hashes of the complete subtrees, the largest first
}

func (t *tree) add(leaf string) {
	h := tlog.RecordHash([]byte(leaf))
	for n := t.size; n&1 == 1; n >>= 1 {
		h = tlog.NodeHash(t.edge[len(t.edge)-1], h)
		t.edge = t.edge[:len(t.edge)-1]
	}
	t.edge = append(t.edge, h)
	t.size++
}

func (t *tree) root() tlog.Hash {
	if t.size == 0 {
		// The hash of no leaves needs no reader.
		h, _ := tlog.TreeHash(0, nil)
		return h
	}
	h := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.edge[i], h)
	}
	return h
}
