package mcpcli

import "time"

// fixedNow returns the time in tests that need a fixed one.
func fixedNow() time.Time { return time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC) }
