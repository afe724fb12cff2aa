package policy_test

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/rules/quiet"
	"github.com/floodmark/floodmark/policy"
)

func hours(t *testing.T, from, to, zone, do string) quiet.Hours {
	t.Helper()
	return load(t, user(`approvals: {quiet: {from: "`+from+`", to: "`+to+`", zone: `+zone+`, do: `+do+`}}`)).Settings("any").Quiet
}

// Quiet hours begin with their first minute and end with their last, by the clock
// on a wall of their zone: over midnight, and on days when clocks are changed.
func TestQuietHours(t *testing.T) {
	night, day, dst := [2]string{"22:00", "07:00"}, [2]string{"12:30", "13:00"}, [2]string{"02:15", "02:45"}
	for name, c := range map[string]struct {
		hours   [2]string
		at, end string // end is empty if it is not quiet
	}{
		"before it begins":     {night, "2026-01-10T20:59:59Z", ""},
		"at the beginning":     {night, "2026-01-10T21:00:00Z", "2026-01-11T07:00:00+01:00"},
		"at midnight":          {night, "2026-01-10T23:00:00Z", "2026-01-11T07:00:00+01:00"},
		"just before the end":  {night, "2026-01-11T05:59:59.999Z", "2026-01-11T07:00:00+01:00"},
		"at the end":           {night, "2026-01-11T06:00:00Z", ""},
		"in summer":            {night, "2026-07-01T20:00:00Z", "2026-07-02T07:00:00+02:00"},
		"in summer, too early": {night, "2026-07-01T19:59:59Z", ""},
		"at noon":              {day, "2026-01-11T11:30:00Z", "2026-01-11T13:00:00+01:00"},
		"after noon":           {day, "2026-01-11T12:00:00Z", ""},
		"before noon":          {day, "2026-01-11T11:29:59Z", ""},
		// On 2026-03-29 at 01:00 UTC it becomes 03:00 at once, an hour early; on
		// 2026-10-25 at 01:00 UTC it becomes 02:00 for the second time.
		"a shorter night":         {night, "2026-03-28T21:00:00Z", "2026-03-29T07:00:00+02:00"},
		"a longer night":          {night, "2026-10-24T20:00:00Z", "2026-10-25T07:00:00+01:00"},
		"an hour that never is":   {dst, "2026-03-29T01:20:00Z", ""},
		"nor just before it":      {dst, "2026-03-29T00:59:59Z", ""},
		"an hour that comes once": {dst, "2026-10-25T00:20:00Z", "2026-10-25T02:45:00+02:00"},
		"between":                 {dst, "2026-10-25T00:50:00Z", ""},
		"and once more":           {dst, "2026-10-25T01:20:00Z", "2026-10-25T02:45:00+01:00"},
	} {
		q := hours(t, c.hours[0], c.hours[1], "Europe/Berlin", "hold")
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		end, is := q.Until(at)
		if got := end.Format(time.RFC3339); is != (c.end != "") || is && got != c.end {
			t.Errorf("%s: %s %v, want %s", name, got, is, c.end)
		}
	}
}

// The longest quiet hours end, also on the longest day.
func TestLongestQuiet(t *testing.T) {
	q := hours(t, "00:01", "00:00", "Europe/Berlin", "deny")
	at := time.Date(2026, 10, 24, 22, 1, 0, 0, time.UTC)
	if end, ok := q.Until(at); !ok || end.Sub(at) != 25*time.Hour-time.Minute {
		t.Errorf("%v after %v", end, end.Sub(at))
	}
	if end, ok := q.Until(at.Add(-time.Minute)); ok {
		t.Errorf("the one minute is quiet until %v", end)
	}
}

func TestQuietSettings(t *testing.T) {
	at := time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC)
	var none quiet.Hours
	if _, is := none.Until(at); is || none.Line(at) != "" || load(t, user("relax: true")).Settings("any").Quiet != none {
		t.Error("it is quiet although nobody wants that")
	}
	if q := hours(t, "22:00", "07:00", "UTC", "hold"); !q.Hold || q.Line(at) != "quiet until 07:00 UTC: questions wait until then" || q.Line(at.Add(-2*time.Hour)) != "" {
		t.Errorf("%+v %q", q, q.Line(at))
	}
	if q := hours(t, "22:30", "07:05", "America/New_York", "deny"); q.Hold || q.From != 22*60+30 || q.To != 7*60+5 || q.Line(at.Add(5*time.Hour)) != "quiet until 07:05 EST: what would be asked is refused" {
		t.Errorf("%+v %q", q, q.Line(at.Add(5*time.Hour)))
	}
	if p, _ := policy.Load(project(`approvals: {quiet: {from: "22:00", to: "07:00", zone: UTC, do: deny}}`)); p != nil {
		t.Error("a project may say when people are asked")
	}
}
