package daemon

import "runtime/debug"

// How memory is spent for speed. A monitor holds the states of many sessions,
// which change little: going through them as often as Go does by itself costs a
// third of the time of a busy node. The bound keeps that from becoming a lot of
// memory: near it, Go collects as often as it must.
const (
	heapGrowth = 300     // per cent of what is live, before it is gone through again
	heapBound  = 3 << 30 // bytes
)

// A gateway holds next to nothing, so that Go would go through it after every few
// calls: a fifth of its time. The bound is what a large result takes anyway.
const (
	gatewayGrowth = 400
	gatewayBound  = 96 << 20
)

// A gateway that many clients share holds some 90 MB for 240 of them: with the
// bound of one for a single client it would do nothing but collect.
const sharedBound = 1 << 30

// TuneHeap trades memory for time, where the environment does not say how
// (GOGC, GOMEMLIMIT). The program calls it once.
func TuneHeap(getenv func(string) string) { tune(getenv, heapGrowth, heapBound) }

// TuneShared does the same for a gateway that clients share.
func TuneShared(getenv func(string) string) { tune(getenv, heapGrowth, sharedBound) }

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
