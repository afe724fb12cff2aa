// Package quiet says in which hours no person is asked.
package quiet

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"time"
)

// Hours are the quiet hours in which no person is asked: every day from one local time to another.
// The zero value means that there are none.
type Hours struct {
	// From is the first quiet minute of the day, and To the first minute that is not quiet any
	// more. If To is smaller than From, the quiet hours go on past midnight.
	From, To int
	// Zone is nil if there are no quiet hours.
	Zone *time.Location
	// Hold says that a question waits for the end of the quiet hours. Without it, the call is
	// refused at once.
	Hold bool
}

// longestQuiet bounds the length of quiet hours: less than a day, and an hour or two more when
// clocks are set back.
const longestQuiet = 26 * time.Hour

// Until reports whether a time is in the quiet hours, and when they end. Local time decides, so an
// hour is quiet twice if the clock is set back in it.
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

// Line tells a person that it is quiet and what that means. It is empty outside quiet hours.
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

// ClockTime returns the local time of t.
func ClockTime(t time.Time) string { return t.Format("15:04 MST") }

// at reports whether a time is in the quiet hours.
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

// zones is the IANA Time Zone Database. It is part of the program so that the same policy means the
// same hours on every machine.
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
