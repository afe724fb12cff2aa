package policy

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"
)

// Quiet are the hours in which nobody is to be asked: every day from one time
// to another, as a clock on a wall of the zone shows them. The zero Quiet is
// never.
type Quiet struct {
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
func (q Quiet) Until(at time.Time) (end time.Time, quiet bool) {
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
func (q Quiet) Line(at time.Time) string {
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
func (q Quiet) at(t time.Time) bool {
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

// zone finds a time zone by its name.
func zone(name string) (*time.Location, error) {
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

// quiet reads the quiet hours.
func (r *reader) quiet(n *yaml.Node) Quiet {
	if n == nil {
		return Quiet{}
	}
	q := Quiet{From: clockMinutes(value(n, "from")), To: clockMinutes(value(n, "to")), Hold: yes(value(n, "do"), "hold")}
	if q.From == q.To {
		r.fault(value(n, "to"), "wrong-value", "quiet hours that begin and end at the same time are all day or never", "write another time, or remove quiet")
	}
	named := value(n, "zone")
	found, err := zone(named.Value)
	if err != nil {
		r.fault(named, "wrong-value", fmt.Sprintf("%s is no time zone", shown(named)), "write a name of the IANA Time Zone Database, such as Europe/Berlin, or UTC")
		return Quiet{}
	}
	q.Zone = found
	return q
}

// clockMinutes is a time of day in minutes; it was checked before.
func clockMinutes(n *yaml.Node) int {
	t, err := time.Parse("15:04", n.Value)
	if err != nil {
		return 0
	}
	return t.Hour()*60 + t.Minute()
}

func quietShape() *shape {
	return &shape{kind: mapping, noun: "quiet hours", about: "Hours in which nobody is asked.", keys: []key{
		{name: "from", need: true, shape: &shape{kind: clock, noun: "a time of day", about: "The first quiet minute."}},
		{name: "to", need: true, shape: &shape{kind: clock, noun: "a time of day", about: "The first minute that is not quiet; earlier than from means the next day."}},
		{name: "zone", need: true, shape: textShape("a time zone")},
		{name: "do", need: true, shape: &shape{
			kind: word, noun: "answer to questions in quiet hours", words: []string{"deny", "hold"},
			about: "deny refuses what would be asked; hold asks when the quiet hours are over.",
		}},
	}}
}
