package owner

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// inBox reports whether a decision allowed a command in a box.
func inBox(f floodmark.ActionDecided) bool { return f.Decision.Word() == floodmark.Contain }

// count adds a decision to the figures of a session.
func (t *tale) count(f floodmark.ActionDecided, at time.Time) {
	if f.Action.Kind != floodmark.CallModel {
		t.calls++
	}
	if _, again := t.state.Book.Asked(f.Action.Tool, f.Action.ArgsDigest, at); again && f.Decision.Verdict == floodmark.Confirm {
		return // the same question
	}
	if f.Decision.Verdict < floodmark.Allow {
		t.stopped++
	}
	if f.Decision.Verdict == floodmark.Confirm {
		t.questions++
	}
	if inBox(f) {
		t.boxed++
	}
}

// boxEnded records the result of a command in a box with its decision. It must be called before the
// result is applied, because the ledger forgets the call then.
func (t *tale) boxEnded(f floodmark.ContentArrived) {
	src, ok := t.state.Ledger.Source(f.Node)
	if !ok || f.BoxTicket == "" {
		return
	}
	for i := range slices.Backward(t.decisions) {
		if d := &t.decisions[i]; inBox(d.fact) && d.box == nil && d.fact.Action.Call == src.Call {
			if d.box = &f; f.BoxFailed {
				t.boxFailed++
			}
			return
		}
	}
}

// maxInVain is how many boxed commands a list shows of each session.
const maxInVain = 3

// latest adds to a session what it did last.
func (t *tale) latest(s *wire.Session) *wire.Session {
	for _, one := range slices.Backward(t.decisions) {
		if s.Last == nil && one.fact.Action.Kind == floodmark.CallTool {
			s.Last = decided(t.session, one)
		}
		if one.box != nil && len(one.box.Wanted)+len(one.box.NotKept) > 0 && len(s.InVain) < maxInVain {
			s.InVain = append(s.InVain, decided(t.session, one))
		}
	}
	slices.Reverse(s.InVain)
	return s
}

// boxRun describes a command in a box, and how it ended. It returns nil for any other decision.
func boxRun(t told) *wire.BoxRun {
	if !inBox(t.fact) {
		return nil
	}
	b := &wire.BoxRun{Command: commandOf(t.fact.Action), Line: meaning.BoxEnd(t.box)}
	if f := t.box; f != nil {
		b.End, b.Failed, b.Exit, b.Wanted, b.NotKept = string(f.BoxEnd), f.BoxFailed, int32(min(f.BoxExit, 1<<16)), f.Wanted, f.NotKept
	}
	return b
}

// commandOf returns the command line of a call as it is in the journal.
func commandOf(a floodmark.Action) string {
	for _, arg := range a.Arguments {
		if arg.Path == "command" {
			return arg.Shown
		}
	}
	return ""
}

// boxOver fills in the event for a result from a box. It returns false for any other result.
func (d *Desk) boxOver(ctx context.Context, o monitor.Observation, f floodmark.ContentArrived, out *wire.WatchResponse) bool {
	if f.BoxTicket == "" {
		return false
	}
	t, err := d.tell(ctx, o.Session, nil, nil)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(t.decisions, func(one told) bool { return one.box != nil && one.box.BoxTicket == f.BoxTicket })
	if i >= 0 {
		out.What = &wire.WatchResponse_Boxed{Boxed: decided(o.Session, t.decisions[i])}
	}
	return i >= 0
}

// maxToday bounds how many entries are read to count what ran in boxes today.
const maxToday = 1 << 17

// boxedToday counts the commands allowed to run in a box since midnight.
func (d *Desk) boxedToday(ctx context.Context, tenant string) (n int64, err error) {
	if tenant != "" {
		return 0, nil // tenants have no boxes
	}
	y, m, day := d.Now().Date()
	since, read := time.Date(y, m, day, 0, 0, 0, 0, d.Now().Location()), 0
	for h, err := range d.Journal.Recent(ctx, tenant) {
		if err != nil {
			return n, err
		}
		if h.At < since.UnixNano() || read >= maxToday {
			break
		}
		for e, err := range d.Journal.Read(ctx, h.Session, 0) {
			if err != nil {
				return n, err
			}
			if read++; boxedSince(e, since) {
				n++
			}
		}
	}
	return n, nil
}

// boxedSince reports whether an entry is a decision since a time that allowed a command in a box.
func boxedSince(e journal.Entry, since time.Time) bool {
	if e.Time().Before(since) || !bytes.Contains(e.Body, []byte(floodmark.Boxed.String())) {
		return false
	}
	f, err := e.Fact()
	d, is := f.(floodmark.ActionDecided)
	return err == nil && is && inBox(d)
}
