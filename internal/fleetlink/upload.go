package fleetlink

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// An uploader copies a journal to the fleet. What it knows of how far that is
// came from the fleet, in this process; whoever starts anew asks again.
type uploader struct {
	journal journal.Journal
	fleet   wire.MachineServiceClient

	mark   journal.Mark // all that was written up to it is there
	forked map[floodmark.SessionID]bool
}

const (
	// headsAtOnce is how many sessions the fleet is asked about at once.
	headsAtOnce = 500
	// partEntries and partBytes bound one upload, besides a single large entry.
	partEntries = 256
	partBytes   = 1 << 20
	// triesOfSession is how often a session is begun anew because the fleet knew
	// less of it than it had said.
	triesOfSession = 3
)

// run uploads what was written since it last did. It returns how many sessions
// are still not there whole.
func (u *uploader) run(ctx context.Context) (behind int64, err error) {
	for {
		heads, more, err := u.heads(ctx)
		if err != nil || len(heads) == 0 {
			return 0, err
		}
		names := make([][]byte, len(heads))
		for i, h := range heads {
			names[i] = []byte(h.Session.ID)
		}
		there, err := u.fleet.Mirrored(ctx, &wire.MirroredRequest{Sessions: names})
		if err != nil {
			return int64(len(heads)), err
		}
		if len(there.GetHeads()) != len(heads) {
			return int64(len(heads)), fmt.Errorf("%w: heads of %d sessions, asked for %d", errAnswer, len(there.GetHeads()), len(heads))
		}
		for i, h := range heads {
			if err := u.session(ctx, h, there.GetHeads()[i]); err != nil {
				return int64(len(heads) - i), err
			}
		}
		u.mark = heads[len(heads)-1].Mark
		if !more {
			return 0, nil
		}
	}
}

// errAnswer says that the fleet answered something else than was asked.
var errAnswer = errors.New("the fleet's answer does not fit")

// heads are the next sessions that were written to, in the order of writing.
func (u *uploader) heads(ctx context.Context) (list []journal.Head, more bool, err error) {
	for h, err := range u.journal.Heads(ctx, u.mark) {
		if err != nil {
			return nil, false, err
		}
		if len(list) == headsAtOnce {
			return list, true, nil
		}
		if h.Session.Tenant == "" && h.Link.Seq > 0 {
			list = append(list, h)
		}
	}
	return list, false, ctx.Err()
}

// session uploads one session from where the fleet is.
func (u *uploader) session(ctx context.Context, h journal.Head, there *wire.MirrorHead) error {
	at := there.GetSeq()
	for range triesOfSession {
		switch same := at == h.Link.Seq && string(there.GetHash()) == string(h.Link.Hash[:]); {
		case same || u.forked[h.Session.ID]:
			return nil // what the fleet has stays: nothing can be added to it from here
		case at >= h.Link.Seq:
			// The fleet has something else, or more: this journal was put back from a
			// copy, or changed. The last entry tells the fleet which.
			u.split(h.Session.ID, at > h.Link.Seq)
			at = h.Link.Seq - 1
		}
		next, done, err := u.parts(ctx, h.Session, at)
		if err != nil || done {
			return err
		}
		at, there = next, nil
	}
	return fmt.Errorf("%w: it knows less of a session than it said", errAnswer)
}

// parts uploads a session behind a number. It is done unless there is a gap
// before what it sent; then it returns where to begin.
func (u *uploader) parts(ctx context.Context, s journal.Session, after uint64) (next uint64, done bool, err error) {
	start, err := u.journal.Begin(ctx, s)
	if err != nil {
		return 0, false, err
	}
	p := &part{request: &wire.UploadRequest{Session: []byte(s.ID)}}
	if t := start.Tombstone; t != nil && t.Link.Seq > after {
		p.request.Tombstone, p.request.After = t.Note, headOf(t.Link)
		after = t.Link.Seq
	}
	for e, err := range u.journal.Read(ctx, s, after) {
		if err != nil {
			return 0, false, err
		}
		if p.full(e) {
			if next, done, err := u.send(ctx, s.ID, p); err != nil || !done {
				return next, done, err
			}
			if u.forked[s.ID] {
				return 0, true, nil
			}
		}
		p.add(e)
	}
	if err := ctx.Err(); err != nil || p.empty() {
		return 0, err == nil, err
	}
	return u.send(ctx, s.ID, p)
}

func (u *uploader) send(ctx context.Context, s floodmark.SessionID, p *part) (next uint64, done bool, err error) {
	got, err := u.fleet.Upload(ctx, p.request)
	if err != nil {
		return 0, false, err
	}
	p.clear()
	switch machines.Outcome(got.GetOutcome()) {
	case machines.Kept:
		return 0, true, nil
	case machines.Gap:
		return got.GetHead().GetSeq(), false, nil
	case machines.Fork:
		u.split(s, true)
		return 0, true, nil
	}
	return 0, false, fmt.Errorf("%w: outcome %q", errAnswer, shorten(got.GetOutcome()))
}

// split notes a session of which the fleet has something else.
func (u *uploader) split(s floodmark.SessionID, is bool) {
	if u.forked == nil {
		u.forked = map[floodmark.SessionID]bool{}
	}
	if is {
		u.forked[s] = true
	}
}

// A part is an upload while it is put together.
type part struct {
	request *wire.UploadRequest
	bytes   int
}

func (p *part) empty() bool { return len(p.request.Entries) == 0 && len(p.request.Tombstone) == 0 }

// full reports whether an entry has no room any more.
func (p *part) full(e journal.Entry) bool {
	n := len(p.request.Entries)
	return n >= partEntries || n > 0 && p.bytes+len(e.Body) > partBytes
}

func (p *part) add(e journal.Entry) {
	if len(p.request.Entries) == 0 && len(p.request.Tombstone) == 0 && e.Seq > 1 {
		p.request.After = headOf(journal.Link{Seq: e.Seq - 1, Hash: e.Prev})
	}
	p.bytes += len(e.Body)
	p.request.Entries = append(p.request.Entries, &wire.MirrorEntry{At: e.At, Kind: e.Kind, Body: e.Body, Hash: e.Hash[:]})
}

func (p *part) clear() {
	p.request, p.bytes = &wire.UploadRequest{Session: p.request.GetSession()}, 0
}

func headOf(l journal.Link) *wire.MirrorHead {
	if l.Seq == 0 {
		return nil
	}
	return &wire.MirrorHead{Seq: l.Seq, Hash: l.Hash[:]}
}
