//go:build !faults

package setup

import "time"

// fault returns nil: the released program has no fault points.
func fault() func(string) { return nil }

// Vitals does nothing in the released program.
func Vitals() {}

// faultLogBytes returns 0, for the default limit on SQLite's log.
func faultLogBytes() int { return 0 }

// fleetEvery returns 0, for the default time between two contacts with a fleet.
func fleetEvery() time.Duration { return 0 }

// clock returns the machine's clock.
func clock() func() time.Time { return time.Now }
