package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A HeadLog keeps what a [Checkpointer] makes, apart from the journal: the leaves, the hashes of
// the tree over them, and the signed checkpoints. It has one writer and any number of concurrent
// readers.
//
// Its content need not be trusted: readers verify the signatures.
type HeadLog interface {
	// Leaves yields the leaves from the given number on, from 0, in their string form. There may be
	// more leaves than the newest checkpoint covers. It yields [ErrLog] if there are fewer than
	// from.
	Leaves(ctx context.Context, from int64) iter.Seq2[string, error]
	// Notes yields all checkpoints, oldest first.
	Notes(ctx context.Context) iter.Seq2[[]byte, error]
	// Newest returns the newest checkpoint, or nil.
	Newest(ctx context.Context) ([]byte, error)
	// ReadHashes returns hashes of the tree (see [tlog.HashReader]).
	ReadHashes(indexes []int64) ([]tlog.Hash, error)

	// Trim drops all leaves from the given number on. It returns [ErrLog] if
	// there are fewer.
	Trim(ctx context.Context, size int64) error
	// Append adds leaves; once it returns nil they survive a crash.
	Append(ctx context.Context, leaves []string) error
	// WriteHashes stores hashes from an index on. They can be rebuilt from the leaves, so they need
	// not survive a crash.
	WriteHashes(ctx context.Context, index int64, hashes []tlog.Hash) error
	// Publish makes a checkpoint the newest one atomically; once it returns nil that survives a
	// crash.
	Publish(ctx context.Context, signed []byte) error
}

// MaxStepHeads bounds the work of one step, to about ten megabytes of leaves. A node with a million
// sessions needs sixteen steps for its first checkpoint; later steps rarely have more changes than
// this.
const MaxStepHeads = 1 << 16

// ErrLog says that a log of heads is not what was signed. Nothing more is added to it: a new
// signature would hide the damage.
var ErrLog = errors.New("journal: the log of heads is not what was signed; run journal verify, then keep its folder as evidence and begin a new one")

// A Checkpointer signs which entries are the last of a journal, so that a lost tail or a lost
// session is noticed. It keeps no state in memory: after a crash at any point the next step
// continues.
type Checkpointer struct {
	Journal Journal
	Log     HeadLog
	Key     Key
	// Store names the journal in the checkpoints, so that they are not compared with another
	// journal. It may be empty.
	Store string
}

// A Step is the result of one step.
type Step struct {
	Leaves     int        // how many heads were added; 0 if nothing had changed
	Checkpoint Checkpoint // the newest one
	More       bool       // there is more to do at once
}

// Step makes one checkpoint if a session was written since the last one. Its cost depends on the
// number of changes, not on the size of the journal.
func (c *Checkpointer) Step(ctx context.Context, now time.Time) (Step, error) {
	last, err := c.last(ctx)
	if err != nil {
		return Step{}, err
	}
	heads, more, err := headsAfter(ctx, c.Journal, last.Mark, MaxStepHeads)
	if err != nil {
		return Step{}, fmt.Errorf("read the heads of sessions: %w", err)
	}
	if len(heads) == 0 {
		return Step{Checkpoint: last}, nil
	}
	next := Checkpoint{At: now.UTC(), Store: c.Store, Mark: heads[len(heads)-1].Mark}
	leaves := newestLeaves(heads)
	next.Size = last.Size + int64(len(leaves))
	if err := c.Log.Append(ctx, leaves); err != nil {
		return Step{}, fmt.Errorf("add to the log of heads: %w", err)
	}
	if err := writeTree(ctx, c.Log, last.Size, leaves); err != nil {
		return Step{}, err
	}
	if next.Root, err = tlog.TreeHash(next.Size, c.Log); err != nil {
		return Step{}, fmt.Errorf("hash the log of heads: %w", err)
	}
	signed, err := next.Sign(c.Key.Signer)
	if err != nil {
		return Step{}, err
	}
	if err := c.Log.Publish(ctx, signed); err != nil {
		return Step{}, fmt.Errorf("keep a checkpoint: %w", err)
	}
	next.Origin = c.Key.Signer.Name()
	return Step{Leaves: len(leaves), Checkpoint: next, More: more}, nil
}

// last returns the newest checkpoint and trims the log to the leaves it covers. Any further leaves
// come from a step that stopped before it signed them; the journal still has their heads.
func (c *Checkpointer) last(ctx context.Context) (Checkpoint, error) {
	signed, err := c.Log.Newest(ctx)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read the newest checkpoint: %w", err)
	}
	var last Checkpoint
	if signed != nil {
		if last, err = OpenCheckpoint(c.Key.Verifiers(), signed); err != nil {
			return Checkpoint{}, fmt.Errorf("%w (%w)", ErrLog, err)
		}
		if last.Store != c.Store {
			return Checkpoint{}, fmt.Errorf("%w (it is about store %q, not %q)", ErrLog, last.Store, c.Store)
		}
	}
	if alone, err := ofOneStep(ctx, c.Log, last.Size); err != nil {
		return Checkpoint{}, fmt.Errorf("read the log of heads: %w", err)
	} else if !alone {
		return Checkpoint{}, fmt.Errorf("%w (the newest checkpoints are gone: behind the last one, of %s, stand heads of several)", ErrLog, minute(last.At))
	}
	if err := c.Log.Trim(ctx, last.Size); err != nil {
		return Checkpoint{}, fmt.Errorf("trim the log of heads: %w", err)
	}
	if last.Size == 0 {
		return last, nil
	}
	root, err := tlog.TreeHash(last.Size, c.Log)
	if err == nil && root == last.Root {
		return last, nil
	}
	return last, c.rebuild(ctx, last)
}

// ofOneStep reports whether the leaves from number size on can come from one unfinished step, which
// adds at most one leaf for each session. Leaves of several steps must have been signed, so
// checkpoints are missing then.
func ofOneStep(ctx context.Context, log HeadLog, size int64) (bool, error) {
	seen := map[Session]bool{}
	for line, err := range log.Leaves(ctx, size) {
		if err != nil {
			return false, err
		}
		leaf, err := ParseLeaf(line)
		if err != nil {
			return true, nil // a partial line is the last one
		}
		if seen[leaf.Session] || len(seen) > 2*MaxStepHeads {
			return false, nil
		}
		seen[leaf.Session] = true
	}
	return true, ctx.Err()
}

// rebuild recomputes the tree's hashes from the leaves.
func (c *Checkpointer) rebuild(ctx context.Context, last Checkpoint) error {
	var size int64
	var chunk []string
	for line, err := range c.Log.Leaves(ctx, 0) {
		if err != nil {
			return fmt.Errorf("read the log of heads: %w", err)
		}
		chunk = append(chunk, line)
		if len(chunk) < MaxStepHeads && size+int64(len(chunk)) < last.Size {
			continue
		}
		if err := writeTree(ctx, c.Log, size, chunk); err != nil {
			return err
		}
		size += int64(len(chunk))
		chunk = chunk[:0]
		if size >= last.Size {
			break
		}
	}
	if size != last.Size {
		return fmt.Errorf("%w (%d heads are left of %d)", ErrLog, size+int64(len(chunk)), last.Size)
	}
	root, err := tlog.TreeHash(size, c.Log)
	if err != nil {
		return fmt.Errorf("hash the log of heads: %w", err)
	}
	if root != last.Root {
		return fmt.Errorf("%w (its %d heads have another root)", ErrLog, size)
	}
	return nil
}

// writeTree stores the hashes that new leaves add to a tree of the given size.
func writeTree(ctx context.Context, log HeadLog, size int64, leaves []string) error {
	first := tlog.StoredHashCount(size)
	var fresh []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		var old, at []int64
		for i, index := range indexes {
			if index >= first {
				found[i] = fresh[index-first]
			} else {
				old, at = append(old, index), append(at, int64(i))
			}
		}
		if len(old) == 0 {
			return found, nil
		}
		hashes, err := log.ReadHashes(old)
		for i, h := range hashes {
			found[at[i]] = h
		}
		return found, err
	})
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(size+int64(i), []byte(leaf), read)
		if err != nil {
			return fmt.Errorf("hash the log of heads: %w", err)
		}
		fresh = append(fresh, hashes...)
	}
	if err := log.WriteHashes(ctx, first, fresh); err != nil {
		return fmt.Errorf("write the hashes of heads: %w", err)
	}
	return nil
}

// headsAfter returns about limit heads after a mark, and whether there are more. It returns all
// heads with the same mark, because one batch may write several sessions with one mark and the next
// call starts after that mark.
func headsAfter(ctx context.Context, j Journal, after Mark, limit int) (heads []Head, more bool, err error) {
	for h, err := range j.Heads(ctx, after) {
		if err != nil {
			return nil, false, err
		}
		if len(heads) >= limit && h.Mark != heads[len(heads)-1].Mark {
			return heads, true, nil
		}
		heads = append(heads, h)
	}
	return heads, false, ctx.Err()
}

// newestLeaves returns one leaf for each session, in the order of their writing.
func newestLeaves(heads []Head) []string {
	newest := make(map[Session]int, len(heads))
	for i, h := range heads {
		newest[h.Session] = i
	}
	leaves := make([]string, 0, len(newest))
	for i, h := range heads {
		if newest[h.Session] == i {
			leaves = append(leaves, Leaf{Session: h.Session, Link: h.Link}.String())
		}
	}
	return leaves
}
