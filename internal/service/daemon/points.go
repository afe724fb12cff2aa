package daemon

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The points at which Options.Fault is called, besides those of the journal.
const (
	pointOpened         = "opened"          // the store is open, nothing was looked at
	pointLookedBack     = "looked-back"     // the last run's end is written down, this run's beginning is not
	pointBeforeListen   = "before-listen"   // all is built, no socket is open yet
	pointBeforeReply    = "before-reply"    // the facts are durable, the answer has not left
	pointSign           = "sign"            // heads are about to be signed
	pointWitnessAppend  = "witness-append"  // heads are in the folder, unsigned
	pointWitnessPublish = "witness-publish" // a checkpoint is signed, but not shown
	pointReload         = "reload"          // new rules are in effect, no watcher was told
	pointErase          = "erase"           // a tombstone is signed, but not in the store
	pointErased         = "erased"          // the tombstone is in the store, no watcher was told
	pointStop           = "stop"            // a stop was requested, nothing is closed yet
	pointClosed         = "closed"          // all is closed, but the note of this run is still there
)

// watchedHooks is the monitor with a fault point between the durable write and the answer, and with
// a deadline for the answer. If the disk hangs while writing, the caller must get a refusal before
// it stops waiting.
type watchedHooks struct {
	*monitor.Monitor
	fault func(string)
	// enter waits for an event's turn, or refuses it.
	enter func(ctx context.Context, tenant string, ev hook.Event) (leave func(), err error)
}

// Handle judges one event.
func (w watchedHooks) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	answered := make(chan judged, 1)
	release := hookframe.Hold(ctx) // the event's bytes stay counted while it is judged
	go func() {
		defer release()
		answered <- w.judge(ctx, tenant, ev) // the monitor's Close waits for it
	}()
	select {
	case j := <-answered:
		return j.reply, j.err
	case <-ctx.Done():
	}
	select {
	case j := <-answered: // just in time
		return j.reply, j.err
	default:
		return hook.Reply{}, ctx.Err()
	}
}

type judged struct {
	reply hook.Reply
	err   error
}

// judge asks the monitor, and turns a panic into an error, as the doors do.
func (w watchedHooks) judge(ctx context.Context, tenant string, ev hook.Event) (j judged) {
	defer func() {
		if p := recover(); p != nil {
			j = judged{err: fmt.Errorf("%w: %v", monitor.ErrPanic, p)}
		}
	}()
	leave, err := w.enter(ctx, tenant, ev)
	if err != nil {
		return judged{err: err}
	}
	defer leave()
	j.reply, j.err = w.Monitor.Handle(ctx, tenant, ev)
	w.fault(pointBeforeReply)
	return j
}

// watchedHeads is the folder of heads with fault points between its steps.
type watchedHeads struct {
	journal.HeadLog
	fault func(string)
}

// Append adds heads.
func (w watchedHeads) Append(ctx context.Context, leaves []string) error {
	err := w.HeadLog.Append(ctx, leaves)
	w.fault(pointWitnessAppend)
	return err
}

// Publish shows a signed checkpoint.
func (w watchedHeads) Publish(ctx context.Context, signed []byte) error {
	w.fault(pointWitnessPublish)
	return w.HeadLog.Publish(ctx, signed)
}

// Erase implements [journal.Journal].
func (s store) Erase(ctx context.Context, t journal.Tombstone) error {
	s.fault(pointErase)
	err := s.Journal.Erase(ctx, t)
	s.fault(pointErased)
	return err
}
