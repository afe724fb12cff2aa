//go:build !faults

package main

import "time"

// fault is what ends the process at a named point: nothing, in the program
// people run.
func fault() func(string) { return nil }

// vitals shows nothing: what the program uses is the system's to say.
func vitals() {}

// faultLogBytes is how much SQLite's log takes before it is moved: as much as
// is usual.
func faultLogBytes() int { return 0 }

// fleetEvery is the time between two contacts with a fleet: as much as is usual.
func fleetEvery() time.Duration { return 0 }

// clock is the machine's.
func clock() func() time.Time { return time.Now }
