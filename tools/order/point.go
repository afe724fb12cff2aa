package main

// pointText is what stands in each woven package. One point in twenty is hot: it
// sleeps for up to 30 ms nearly every third time; the others do so twice in a thousand.
// The system sleeps, not the runtime, so that a test's own clock does not move.
const pointText = `package PACKAGE

import (
	orderrand "math/rand/v2"
	orderos "os"
	orderconv "strconv"
	ordersys "syscall"
)

var orderSeed, orderUnset = orderconv.ParseUint(orderos.Getenv("FLOODMARK_ORDER"), 10, 64)

func orderPoint(point int) {
	if orderUnset != nil {
		return
	}
	h := (uint64(point) + orderSeed*0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9
	h ^= h >> 29
	h *= 0x94D049BB133111EB
	h ^= h >> 32
	chance := 2
	if h%20 == 0 {
		chance = 300
	}
	if orderrand.IntN(1000) < chance {
		t := ordersys.NsecToTimespec(int64(1+orderrand.IntN(30_000)) * 1000)
		_ = ordersys.Nanosleep(&t, nil)
	}
}
`
