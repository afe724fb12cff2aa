package main

// pointText is added to each package with points. One point in twenty is hot: there a goroutine
// sleeps for up to 30 ms nearly every third time, at the others twice in a thousand times. It uses
// a system call, because the runtime's sleep would move a test's own clock.
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
