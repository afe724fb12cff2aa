// Package heap decides how much memory a program spends to compute less. It sees only what Go
// says of its own memory, and knows no clock.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A monitor holds the states of its sessions, which change little. A node with many
// thousands of them would spend a third of its time on going through them as often as Go
// does by itself; on a laptop, with some long ones, that is little, and the memory is its
// owner's: there the garbage is bounded, too. So how often depends on how much is live.
// Near the bound, Go collects as often as it must.
const (
	monitorUsual = 100       // per cent of what is live, before it is gone through again,
	monitorLeast = 40        // in a long session,
	monitorMost  = 300       // and where there is much of it
	monitorRoom  = 24 << 20  // bytes of garbage in a long session
	monitorFew   = 64 << 20  // live bytes from which on there are more sessions than one or two,
	monitorMany  = 256 << 20 // and from which on it is the most
	monitorBound = 3 << 30   // bytes
)

// A gateway holds next to nothing, so that Go would go through it after every few
// calls: a fifth of its time. The bound is what a large result takes anyway.
const (
	gatewayGrowth = 400
	gatewayBound  = 96 << 20
)

// A gateway that many clients share holds some 90 MB for 240 of them: with the
// bound of one for a single client it would do nothing but collect.
const (
	sharedGrowth = 300
	sharedBound  = 1 << 30
)

// TuneMonitor trades memory for time, where the environment does not say how (GOGC,
// GOMEMLIMIT), and gives memory back to the system when there is nothing to do. The
// program calls it once.
func TuneMonitor(getenv func(string) string) {
	tune(getenv, monitorUsual, monitorBound)
	if getenv("GOGC") == "" {
		(&keeper{percent: monitorUsual}).watch()
	}
}

// TuneShared trades memory for time in a gateway that clients share.
func TuneShared(getenv func(string) string) { tune(getenv, sharedGrowth, sharedBound) }

// TuneGateway does the same for a gateway with one client.
func TuneGateway(getenv func(string) string) { tune(getenv, gatewayGrowth, gatewayBound) }

func tune(getenv func(string) string, growth int, bound int64) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bound)
	}
}

// A keeper looks at the heap after each collection. Collections are one after the other,
// and so are its looks.
type keeper struct {
	percent int
	last    heap
	rested  bool // memory was given back, and nothing was done since
}

// A heap is what Go says of one: what was live at its last collection, at which size it
// is collected again, and what was ever taken from it.
type heap struct{ live, goal, taken uint64 }

// watch looks when the next collection finds what only it refers to.
func (k *keeper) watch() {
	runtime.AddCleanup(new([16]byte), func(k *keeper) {
		k.watch()
		percent, rest := k.look(read())
		if percent != k.percent {
			k.percent = percent
			debug.SetGCPercent(percent)
		}
		if rest {
			debug.FreeOSMemory()
		}
	}, k)
}

// look returns how much a heap may grow, and whether its memory is given back: Go collects
// also when two minutes went by in which little was taken.
func (k *keeper) look(now heap) (percent int, rest bool) {
	room := k.last.goal - min(k.last.goal, k.last.live)
	idle := k.last != heap{} && now.taken-k.last.taken < room/2
	rest = idle && !k.rested
	k.rested, k.last = idle, now
	if percent = growth(now.live); max(percent-k.percent, k.percent-percent) < percentStep {
		percent = k.percent
	}
	return percent, rest
}

// percentStep is what a change is worth: it stops the program for a moment.
const percentStep = 10

// growth is by how many per cent of what is live a monitor's heap may grow.
func growth(live uint64) int {
	if live <= monitorFew {
		return min(max(monitorLeast, int(monitorRoom*100/max(1, live))), monitorUsual)
	}
	over := min(live, monitorMany) - monitorFew
	return monitorLeast + int(over*(monitorMost-monitorLeast)/(monitorMany-monitorFew))
}

func read() heap {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return heap{live: s[0].Value.Uint64(), goal: s[1].Value.Uint64(), taken: s[2].Value.Uint64()}
}
