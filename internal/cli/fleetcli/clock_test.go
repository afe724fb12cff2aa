package fleetcli

import "time"

// fixedNow is the clock of tests that need one.
func fixedNow() time.Time { return time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC) }
