//go:build !faults

package setup

import "time"

// fault ends the process at no point, in the released program.
func fault() func(string) { return nil }

// Vitals shows nothing: the system shows what the program uses.
func Vitals() {}

// faultLogBytes is the default limit on SQLite's log.
func faultLogBytes() int { return 0 }

// fleetEvery is the default time between two contacts with a fleet.
func fleetEvery() time.Duration { return 0 }

// clock is the machine's.
func clock() func() time.Time { return time.Now }
