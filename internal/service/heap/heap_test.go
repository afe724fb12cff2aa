package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGrowthFollowsWhatIsLive(t *testing.T) {
	last := monitorUsual
	for live := uint64(0); live <= 2*monitorMany; live += 1 << 20 {
		now := growth(live)
		if few := live <= monitorFew; few && now > last || !few && now < last || live <= monitorRoom && now != monitorUsual || live >= monitorMany && now != monitorMost {
			t.Fatalf("%d bytes: %d after %d", live, now, last)
		}
		if now < monitorLeast || live <= monitorFew && live*uint64(now)/100 > max(monitorRoom, live*monitorLeast/100) {
			t.Fatalf("%d bytes: %d", live, now)
		}
		last = now
	}
}

// Memory is returned to the system once after work, and again only after more work.
func TestMemoryIsGivenBackAfterWork(t *testing.T) {
	k, taken := keeper{percent: monitorUsual}, uint64(0)
	look := func(more uint64) bool {
		taken += more
		_, rest := k.look(heap{live: 50 << 20, goal: 100 << 20, taken: taken})
		return rest
	}
	const work, little = 50 << 20, 1 << 20
	for i, step := range []struct {
		took uint64
		want bool
	}{{work, false}, {work, false}, {little, true}, {0, false}, {little, false}, {work, false}, {little, true}} {
		if got := look(step.took); got != step.want {
			t.Errorf("look %d: %v", i, got)
		}
	}
}

// A change that is smaller than percentStep is not made.
func TestGrowthChangesInSteps(t *testing.T) {
	k := keeper{percent: monitorLeast}
	for live, want := range map[uint64]int{monitorFew: monitorLeast, monitorFew + 4<<20: monitorLeast, monitorRoom: monitorUsual, monitorMany: monitorMost} {
		if got, _ := k.look(heap{live: live}); got != want {
			t.Errorf("%d bytes: %d, want %d", live, got, want)
		}
	}
}

// Settings in the environment take precedence.
func TestTheEnvironmentDecides(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	for _, tune := range []func(func(string) string){TuneMonitor, TuneShared, TuneGateway} {
		tune(func(string) string { return "set by the owner" })
	}
	if percent, bound := debug.SetGCPercent(77), debug.SetMemoryLimit(-1); percent != 77 || bound != 1<<40 {
		t.Errorf("set to %d and %d", percent, bound)
	}
}

// The heap is looked at after each collection.
func TestTheHeapIsWatched(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	TuneMonitor(func(string) string { return "" })
	much := make([]byte, 2*monitorMany)
	defer runtime.KeepAlive(much)
	for range 10_000 {
		runtime.GC()
		if now := debug.SetGCPercent(77); now == monitorMost {
			return
		}
	}
	t.Error("nobody looked")
}
