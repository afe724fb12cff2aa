package daemon

import (
	"context"
	"time"
)

// When the self-check is called. The first time is soon after the start, but late enough that the
// program that started the daemon has its answer. Then it is called often, so that a check that is
// due once a day is not late on a machine that sleeps.
const (
	selfCheckFirst = time.Minute
	selfCheckEvery = 15 * time.Minute
)

// selfChecks checks from time to time whether the agents are still connected. Its errors never end
// the monitor.
func (d *Daemon) selfChecks(ctx context.Context) error {
	if d.opts.SelfCheck == nil {
		return nil
	}
	told := "" // so that a lasting fault does not fill the log
	nowAndThen(ctx, selfCheckFirst, selfCheckEvery, func() {
		if err := d.selfCheck(ctx); err != nil && ctx.Err() == nil && err.Error() != told {
			d.opts.Log.Error("check whether the agents are connected", "error", err)
			told = err.Error()
		}
	})
	return nil
}

// selfCheck checks once, and notes what is wrong.
func (d *Daemon) selfCheck(ctx context.Context) error {
	found, err := d.opts.SelfCheck(ctx, d.opts.Now())
	for _, f := range found {
		d.incident(ctx, f.Kind, f.Text)
	}
	return err
}

// nowAndThen calls do until ctx ends, never twice at once.
func nowAndThen(ctx context.Context, first, every time.Duration, do func()) {
	next := time.NewTimer(first)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			do()
			next.Reset(every)
		}
	}
}
