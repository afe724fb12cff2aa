package policy

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/quiet"
)

// quiet reads the quiet hours.
func (r *reader) quiet(n *yaml.Node) quiet.Hours {
	if n == nil {
		return quiet.Hours{}
	}
	q := quiet.Hours{From: clockMinutes(value(n, "from")), To: clockMinutes(value(n, "to")), Hold: yes(value(n, "do"), "hold")}
	if q.From == q.To {
		r.fault(value(n, "to"), "wrong-value", "quiet hours that begin and end at the same time are all day or never", "write another time, or remove quiet")
	}
	named := value(n, "zone")
	found, err := quiet.Zone(named.Value)
	if err != nil {
		r.fault(named, "wrong-value", fmt.Sprintf("%s is no time zone", shown(named)), "write a name of the IANA Time Zone Database, such as Europe/Berlin, or UTC")
		return quiet.Hours{}
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
