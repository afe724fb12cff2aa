//go:build !faults

package main

import "time"

// fault ends the process at no point, in the released program.
func fault() func(string) { return nil }

// vitals shows nothing: the system shows what the program uses.
func vitals() {}

// faultLogBytes is the default limit on SQLite's log.
func faultLogBytes() int { return 0 }

// fleetEvery is the default time between two contacts with a fleet.
func fleetEvery() time.Duration { return 0 }

// clock is the machine's.
func clock() func() time.Time { return time.Now }
