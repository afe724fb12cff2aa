// Package heap tunes Go's garbage collector: how much memory a program uses to spend less time on
// collecting. It uses only Go's own metrics, and no clock.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A monitor's live memory is mostly the states of its sessions, which change little. By default, a
// node with many thousands of sessions would spend a third of its time on scanning them. On a
// laptop with a few long sessions the scanning takes little time, and the memory belongs to the
// user, so there the garbage is bounded, too. So the growth before a collection depends on how much
// memory is live. Near the bound, Go collects as often as necessary.
const (
	monitorUsual = 100       // growth in per cent of the live memory before a collection: the default,
	monitorLeast = 40        // with a long session,
	monitorMost  = 300       // and with many sessions
	monitorRoom  = 24 << 20  // bytes of garbage with a long session
	monitorFew   = 64 << 20  // up to this many live bytes, we assume one or two sessions;
	monitorMany  = 256 << 20 // from this many on, the growth is monitorMost
	monitorBound = 3 << 30   // memory limit in bytes
)

// A gateway with one client has little live memory, so that by default Go would collect after every
// few calls, which takes a fifth of the gateway's time. The bound is the memory that one large
// result needs.
const (
	gatewayGrowth = 400
	gatewayBound  = 96 << 20
)

// A gateway that many clients share has some 90 MB of live memory for 240 clients. With the bound
// for a single client it would do nothing but collect.
const (
	sharedGrowth = 300
	sharedBound  = 1 << 30
)

// TuneMonitor tunes the collector for a monitor, and returns memory to the system when the monitor
// is idle. The environment variables GOGC and GOMEMLIMIT take precedence. The program calls it
// once.
func TuneMonitor(getenv func(string) string) {
	tune(getenv, monitorUsual, monitorBound)
	if getenv("GOGC") == "" {
		(&keeper{percent: monitorUsual}).watch()
	}
}

// TuneShared tunes the collector for a gateway that clients share. GOGC and GOMEMLIMIT take
// precedence.
func TuneShared(getenv func(string) string) { tune(getenv, sharedGrowth, sharedBound) }

// TuneGateway tunes the collector for a gateway with one client. GOGC and GOMEMLIMIT take
// precedence.
func TuneGateway(getenv func(string) string) { tune(getenv, gatewayGrowth, gatewayBound) }

func tune(getenv func(string) string, growth int, bound int64) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bound)
	}
}

// A keeper adjusts the growth after each collection. It needs no lock, because collections are
// never concurrent.
type keeper struct {
	percent int
	last    heap
	rested  bool // memory was returned to the system, and the program was idle since
}

// A heap holds Go's metrics in bytes: the live memory at the last collection, the size at which the
// next collection starts, and everything that was ever allocated.
type heap struct{ live, goal, taken uint64 }

// watch runs look after the next collection, by a cleanup of an object that nothing else refers to.
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

// look returns how much the heap may grow, in per cent, and whether to return memory to the system.
// It returns memory if little was allocated since the last collection. That is noticed even in an
// idle program, because Go also collects when the last collection is two minutes ago.
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

// percentStep is the smallest change of the growth that is made, because a change stops the program
// for a moment.
const percentStep = 10

// growth returns by how many per cent of its live memory a monitor's heap may grow before a
// collection.
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
