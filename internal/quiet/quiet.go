// Package quiet tells in which hours no question is shown.
package quiet

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"time"
)

// Hours are those in which no question is to be shown: every day from one time
// to another, as a clock on a wall of the zone shows them. The zero value is
// never.
type Hours struct {
	// From is the first quiet minute of the day, To the first that is not; To
	// may be smaller, then the night is meant.
	From, To int
	// Zone is nil if there are no quiet hours.
	Zone *time.Location
	// Hold says that a question waits for the end of the quiet hours. Otherwise
	// the call is refused at once.
	Hold bool
}

// longestQuiet bounds how long it can be quiet: less than a day, and an hour or
// two more when clocks are set back.
const longestQuiet = 26 * time.Hour

// Until reports whether it is quiet at a time, and until when. What counts is
// what the clock shows: when it is set back, an hour comes twice.
func (q Hours) Until(at time.Time) (end time.Time, quiet bool) {
	if !q.at(at) {
		return time.Time{}, false
	}
	end = at.UTC().Truncate(time.Minute)
	for last := end.Add(longestQuiet); q.at(end) && end.Before(last); {
		end = end.Add(time.Minute)
	}
	return end.In(q.Zone), true
}

// Line says to a person that it is quiet, and what that means; it is empty if it
// is not.
func (q Hours) Line(at time.Time) string {
	end, quiet := q.Until(at)
	switch {
	case !quiet:
		return ""
	case q.Hold:
		return "quiet until " + ClockTime(end) + ": questions wait until then"
	}
	return "quiet until " + ClockTime(end) + ": what would be asked is refused"
}

// ClockTime is a time as a clock of its zone shows it.
func ClockTime(t time.Time) string { return t.Format("15:04 MST") }

// at reports whether it is quiet.
func (q Hours) at(t time.Time) bool {
	if q.Zone == nil {
		return false
	}
	t = t.In(q.Zone)
	minute := t.Hour()*60 + t.Minute()
	if q.From < q.To {
		return q.From <= minute && minute < q.To
	}
	return q.From <= minute || minute < q.To
}

// The zones of the world, as the IANA Time Zone Database has them, are part of
// the program: the same policy means the same hours on every machine.
//
//go:embed zoneinfo.zip
var zones []byte

// Zone finds a time zone by its name.
func Zone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	list, err := zip.NewReader(bytes.NewReader(zones), int64(len(zones)))
	if err != nil {
		return nil, err
	}
	f, err := list.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}
