package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

// The check comes a minute after the start and then four times an hour, however
// long it takes, until the monitor stops.
func TestNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 40*time.Minute)
		defer stop()
		var at []time.Duration
		nowAndThen(ctx, selfCheckFirst, selfCheckEvery, func() {
			at = append(at, time.Since(began))
			time.Sleep(2 * time.Minute)
		})
		if want := []time.Duration{time.Minute, 18 * time.Minute, 35 * time.Minute}; !slices.Equal(at, want) {
			t.Errorf("%v, want %v", at, want)
		}
		if got := time.Since(began); got != 40*time.Minute {
			t.Errorf("it stopped after %v", got)
		}
	})
}

// What a check finds is an incident that status shows, also if the rest of it
// went wrong.
func TestSelfCheckNotes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	broken := errors.New("disk full")
	r := startWith(t, t.TempDir(), true, func(o *Options) {
		o.Now = func() time.Time { return noon }
		o.SelfCheck = func(_ context.Context, now time.Time) ([]floodmark.IncidentSeen, error) {
			if !now.Equal(noon) {
				t.Error(now)
			}
			return []floodmark.IncidentSeen{{Kind: "agent-updated", Text: "Codex: it was 1 when it was proved, and is 2 now"}}, broken
		}
	})
	if err := r.d.selfCheck(t.Context()); !errors.Is(err, broken) {
		t.Error(err)
	}
	s, err := r.owner(t).Owner().Status(t.Context(), &wire.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(s.GetWarnings(), "\n"); s.GetIncidents() != 1 || !strings.Contains(all, "agent-updated: Codex: it was 1") {
		t.Errorf("%d incidents: %s", s.GetIncidents(), all)
	}
}
