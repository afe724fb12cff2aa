package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// How often the background loops run.
const (
	checkpointEvery = 30 * time.Second // entries of this time could be dropped unnoticed
	retainEvery     = 10 * time.Minute
	lastSigning     = 10 * time.Second // bounds the signing at the end of the daemon
)

// A proof protects the journal: it signs which entries are the last ones, apart from the store, and
// erases what is too old to be kept.
type proof struct {
	journal    journal.Journal
	evidence   journal.Evidence
	checkpoint *journal.Checkpointer
	retention  *journal.Retention
	tidy       func(context.Context, time.Time) (int, error) // nil if erasing leaves nothing behind
	copies     func(context.Context, time.Time) (int, error) // drops old copies of laptops' sessions; nil if there are none
	every      time.Duration
	now        func() time.Time
	log        *slog.Logger
	fault      func(string)
	signed     atomic.Int64 // when all was signed last; zero if never
}

// sign signs all entries that are not signed yet.
func (p *proof) sign(ctx context.Context) error {
	for {
		p.fault(pointSign)
		step, err := p.checkpoint.Step(ctx, p.now())
		if err == nil && !step.More {
			p.signed.Store(p.now().UnixNano())
		}
		if err != nil || !step.More {
			return err
		}
	}
}

// lastSigned returns a function for the time when all was last signed; before that it is when the
// daemon began.
func (p *proof) lastSigned(began time.Time) func() time.Time {
	return func() time.Time {
		if at := p.signed.Load(); at != 0 {
			return time.Unix(0, at)
		}
		return began
	}
}

// run signs and erases until ctx ends, then signs once more.
func (p *proof) run(ctx context.Context) error {
	signing, erasing := time.NewTicker(p.every), time.NewTicker(retainEvery)
	defer signing.Stop()
	defer erasing.Stop()
	told := "" // so that a lasting fault does not fill the log
	for {
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSigning)
			defer cancel()
			return p.sign(end)
		case <-signing.C:
			if err := p.sign(ctx); err != nil && ctx.Err() == nil && err.Error() != told {
				p.log.Error("sign the journal's heads", "error", err)
				told = err.Error()
			}
		case <-erasing.C:
			p.erase(ctx)
		}
	}
}

// erase erases sessions that are too old.
func (p *proof) erase(ctx context.Context) {
	for {
		did, err := p.retention.Step(ctx, p.now())
		for _, k := range did.Kept {
			p.log.Error("a session is too old and cannot be erased", "session", k.Session.String(), "error", k.Why)
		}
		if err != nil && ctx.Err() == nil {
			p.log.Error("erase old sessions", "error", err)
		}
		if err != nil || !did.More {
			break
		}
	}
	p.eraseCopies(ctx)
	if p.tidy == nil {
		return
	}
	dropped, err := p.tidy(ctx, p.now())
	if err != nil && ctx.Err() == nil {
		p.log.Error("let go of what erased sessions left", "error", err)
	}
	if dropped > 0 {
		p.log.Info("months without a session are gone from the journal", "months", dropped)
	}
}

// eraseCopies erases laptops' uploads of the same age.
func (p *proof) eraseCopies(ctx context.Context) {
	if p.copies == nil {
		return
	}
	gone, err := p.copies(ctx, p.now())
	if err != nil && ctx.Err() == nil {
		p.log.Error("erase old copies of laptops' sessions", "error", err)
	}
	if gone > 0 {
		p.log.Info("old copies of laptops' sessions are erased", "sessions", gone)
	}
}

// probe returns what is wrong with the store at the start; empty if nothing is.
func (p *proof) probe(ctx context.Context) (string, error) {
	report, err := journal.Probe(ctx, p.journal, p.evidence)
	if err != nil {
		return "", fmt.Errorf("hold the store against its signed heads: %w", err)
	}
	if report.OK() {
		return "", nil
	}
	return fmt.Sprintf("%s (and %d more: run «floodmark journal verify»)", report.Findings[0].Text, report.Found-1), nil
}
