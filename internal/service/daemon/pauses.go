package daemon

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/service/owner"
)

// pauseLook is how often endPauses looks for pauses that are over. A pause ends by itself; endPauses
// only reports what the pause let through.
const pauseLook = time.Second

// endPauses reports what pauses let through as soon as they are over. Pauses that ended before this
// start are reported first.
func (d *Daemon) endPauses(ctx context.Context, desk *owner.Desk) error {
	look := time.NewTicker(pauseLook)
	defer look.Stop()
	told := "" // so that a lasting fault does not fill the log
	first := []string{""}
	for {
		ended, err := desk.EndPauses(ctx, first...)
		for _, sum := range ended {
			of := cmp.Or(sum.GetPause().GetSession(), "all sessions")
			text := fmt.Sprintf("the pause of %s is over: questions it saved %d, calls it let through that are refused otherwise %d; «floodmark journal show floodmark/pauses --facts» has it", of, sum.GetAsked(), sum.GetRefused())
			d.notes.tell(text)
			d.opts.Log.Info("a pause is over", "asked", sum.GetAsked(), "refused", sum.GetRefused())
		}
		if err == nil {
			first, told = nil, ""
		} else if ctx.Err() == nil && err.Error() != told {
			d.opts.Log.Error("say what a pause let through", "error", err)
			told = err.Error()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}
