package fleetlink

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// An uploader copies a journal to the fleet. It knows how far the copy is only from the fleet's
// answers to this process; a new process asks again.
type uploader struct {
	journal journal.Journal
	fleet   wire.MachineServiceClient

	mark   journal.Mark // the fleet has everything that was written up to it
	forked map[floodmark.SessionID]bool
}

const (
	// headsAtOnce is how many sessions the fleet is asked about at once.
	headsAtOnce = 500
	// partEntries and partBytes bound one upload. A single large entry may exceed partBytes.
	partEntries = 256
	partBytes   = 1 << 20
	// triesOfSession is how often the upload of a session is started because the fleet had fewer
	// entries of it than it had said.
	triesOfSession = 3
)

// run uploads what was written since its last call. It returns how many sessions are not known to
// be uploaded completely. A session that cannot be uploaded does not delay others; it and
// everything written after it are tried again at each call.
func (u *uploader) run(ctx context.Context) (behind int64, err error) {
	var stuck error // the error of the first session that cannot be uploaded
	for from := u.mark; ; {
		heads, more, err := u.heads(ctx, from)
		if err != nil || len(heads) == 0 {
			return behind, errors.Join(stuck, err)
		}
		there, err := u.there(ctx, heads)
		if err != nil {
			return behind + u.count(ctx, from), errors.Join(stuck, err)
		}
		for i, h := range heads {
			err := u.session(ctx, h, there[i])
			if err != nil && !ofOne(err) {
				for k := i; k < len(heads); k++ {
					if !same(heads[k], there[k]) && !u.forked[heads[k].Session.ID] {
						behind++
					}
				}
				return behind + u.count(ctx, heads[len(heads)-1].Mark), errors.Join(stuck, err)
			}
			if err != nil {
				if behind++; stuck == nil {
					stuck = err
				}
			}
		}
		if from = heads[len(heads)-1].Mark; stuck == nil {
			u.mark = from
		}
		if !more {
			return behind, stuck
		}
	}
}

// count returns how many sessions were written since a mark, as far as the journal can be read.
func (u *uploader) count(ctx context.Context, from journal.Mark) (n int64) {
	for h, err := range u.journal.Heads(ctx, from) {
		if err != nil {
			break
		}
		if mine(h) {
			n++
		}
	}
	return n
}

// mine reports whether a session is to be uploaded.
func mine(h journal.Head) bool { return h.Session.Tenant == "" && h.Link.Seq > 0 }

// same reports whether the fleet has exactly all entries of a session.
func same(h journal.Head, there *wire.MirrorHead) bool {
	return there.GetSeq() == h.Link.Seq && string(there.GetHash()) == string(h.Link.Hash[:])
}

// ofOne reports whether an error is about one session only and would come again: the laptop's own
// copy of the session is broken, or the fleet refuses it.
func ofOne(err error) bool {
	refused := connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeInvalidArgument
	return refused || errors.Is(err, journal.ErrBroken) || errors.Is(err, errAnswer)
}

var (
	// errAnswer says that an answer of the fleet does not fit the request.
	errAnswer = errors.New("the fleet's answer does not fit")
	// errOwn says that the laptop's own journal could not be read.
	errOwn = errors.New("read this laptop's own journal")
)

// there asks the fleet where its copies of sessions end.
func (u *uploader) there(ctx context.Context, heads []journal.Head) ([]*wire.MirrorHead, error) {
	names := make([][]byte, len(heads))
	for i, h := range heads {
		names[i] = []byte(h.Session.ID)
	}
	got, err := u.fleet.Mirrored(ctx, &wire.MirroredRequest{Sessions: names})
	if err != nil {
		return nil, err
	}
	if len(got.GetHeads()) != len(heads) {
		return nil, fmt.Errorf("%w: heads of %d sessions, asked for %d", errAnswer, len(got.GetHeads()), len(heads))
	}
	return got.GetHeads(), nil
}

// heads returns the next sessions that were written, in the order of writing.
func (u *uploader) heads(ctx context.Context, from journal.Mark) (list []journal.Head, more bool, err error) {
	for h, err := range u.journal.Heads(ctx, from) {
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", errOwn, err)
		}
		if len(list) == headsAtOnce {
			return list, true, nil
		}
		if mine(h) {
			list = append(list, h)
		}
	}
	return list, false, ctx.Err()
}

// session uploads one session from where the fleet's copy ends.
func (u *uploader) session(ctx context.Context, h journal.Head, there *wire.MirrorHead) error {
	at := there.GetSeq()
	for range triesOfSession {
		switch {
		case same(h, there) || u.forked[h.Session.ID]:
			return nil // the fleet keeps what it has, so nothing can be added to it
		case at >= h.Link.Seq:
			// The fleet has different entries, or more: this journal was restored from a copy, or
			// changed. The last entry lets the fleet find out which.
			if at > h.Link.Seq {
				u.split(h.Session.ID)
			}
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

// parts uploads the entries of a session after a number. If the fleet reports a gap, done is false
// and next is the number to begin after.
func (u *uploader) parts(ctx context.Context, s journal.Session, after uint64) (next uint64, done bool, err error) {
	start, err := u.journal.Begin(ctx, s)
	if err != nil {
		return 0, false, fmt.Errorf("%w: %w", errOwn, err)
	}
	p := &part{request: &wire.UploadRequest{Session: []byte(s.ID)}}
	if t := start.Tombstone; t != nil && t.Link.Seq > after {
		p.request.Tombstone, p.request.After = t.Note, headOf(t.Link)
		after = t.Link.Seq
	}
	for e, err := range u.journal.Read(ctx, s, after) {
		if err != nil {
			return 0, false, fmt.Errorf("%w: %w", errOwn, err)
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
		u.split(s)
		return 0, true, nil
	}
	return 0, false, fmt.Errorf("%w: outcome %q", errAnswer, shorten(got.GetOutcome()))
}

// split records a session of which the fleet has different entries.
func (u *uploader) split(s floodmark.SessionID) {
	if u.forked == nil {
		u.forked = map[floodmark.SessionID]bool{}
	}
	u.forked[s] = true
}

// A part is an upload that is being put together.
type part struct {
	request *wire.UploadRequest
	bytes   int
}

func (p *part) empty() bool { return len(p.request.Entries) == 0 && len(p.request.Tombstone) == 0 }

// full reports whether there is no room for another entry.
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
