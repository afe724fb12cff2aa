package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ProbeHeads is how many heads [Probe] looks up: enough to notice a store set back by a minute, few
// enough for every start.
const ProbeHeads = 64

// Probe looks up the heads that were signed last, so that a start notices if the store was deleted,
// swapped or set back. It is quick because it trusts the log of heads; [Verify] checks everything.
func Probe(ctx context.Context, j Journal, ev Evidence) (Report, error) {
	v := &verification{journal: j, evidence: ev, tell: func(Report) {}, parts: 1}
	signed, err := ev.Log.Newest(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("read the newest checkpoint: %w", err)
	}
	if signed == nil {
		v.report.Worth = v.worth()
		return v.report, nil
	}
	c, ok := v.open(signed, 1)
	if !ok {
		return v.report, nil
	}
	v.report.Checkpoints, v.report.Newest = 1, c.At
	if err := v.probeLeaves(ctx, c); err != nil {
		return v.report, err
	}
	v.report.Worth = v.worth()
	return v.report, nil
}

func (v *verification) probeLeaves(ctx context.Context, c Checkpoint) error {
	from := max(0, c.Size-ProbeHeads)
	var newest []Leaf
	number := from
	for line, err := range v.evidence.Log.Leaves(ctx, from) {
		if errors.Is(err, ErrLog) {
			break // the log has fewer
		}
		if err != nil {
			return fmt.Errorf("read the log of heads: %w", err)
		}
		if number == c.Size {
			break
		}
		leaf, err := ParseLeaf(line)
		if err != nil {
			v.report.findLog(LogDamaged, "head %d cannot be read: %v", number+1, err)
			return nil
		}
		number++
		newest = append(newest, leaf)
	}
	if number < c.Size {
		v.report.findLog(LogDamaged, "the log of heads lacks some of the %d heads a checkpoint of %s signed", c.Size, minute(c.At))
		return nil
	}
	v.report.Leaves = int64(len(newest))
	seen := map[Session]bool{}
	for _, leaf := range slices.Backward(newest) {
		if seen[leaf.Session] {
			continue
		}
		seen[leaf.Session] = true
		if err := v.probeHead(ctx, leaf); err != nil {
			return fmt.Errorf("probe session %s: %w", plain(leaf.Session), err)
		}
	}
	return nil
}

// probeHead looks up one entry, or the tombstone that replaced it.
func (v *verification) probeHead(ctx context.Context, leaf Leaf) error {
	v.report.Sessions++
	s, name, when := leaf.Session, plain(leaf.Session), minute(v.checkpoints[0].At)
	start, err := v.journal.Begin(ctx, s)
	if err != nil {
		return err
	}
	if t := start.Tombstone; t != nil && t.Link.Seq >= leaf.Link.Seq {
		v.report.Erased++
		if err := CheckTombstone(v.evidence.Keys, *t); err != nil || t.Session != s {
			v.report.find(Forged, s, t.Link.Seq, "session %s was erased, but its tombstone does not count", name)
		}
		return nil
	}
	for e, err := range v.journal.Read(ctx, s, leaf.Link.Seq-1) {
		if err != nil {
			return err
		}
		v.report.Entries++
		if sum, _ := e.sum(nil); e.Link() != leaf.Link || sum != e.Hash {
			v.report.find(Rewritten, s, leaf.Link.Seq, "entry %d of session %s is not the one a signed checkpoint of %s saw", leaf.Link.Seq, name, when)
		}
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	v.report.find(TailGone, s, leaf.Link.Seq, "entry %d of session %s is gone, which a signed checkpoint of %s saw", leaf.Link.Seq, name, when)
	return nil
}
