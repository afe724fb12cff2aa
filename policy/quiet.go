package policy

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/rules/quiet"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/policy/policyfile"
)

// readQuiet reads the quiet hours.
func readQuiet(r *policyfile.Reader, n *yaml.Node) quiet.Hours {
	if n == nil {
		return quiet.Hours{}
	}
	q := quiet.Hours{From: clockMinutes(policyfile.Value(n, "from")), To: clockMinutes(policyfile.Value(n, "to")), Hold: yes(policyfile.Value(n, "do"), "hold")}
	if q.From == q.To {
		r.Fault(policyfile.Value(n, "to"), "wrong-value", "quiet hours that begin and end at the same time are all day or never", "write another time, or remove quiet")
	}
	named := policyfile.Value(n, "zone")
	found, err := quiet.Zone(named.Value)
	if err != nil {
		r.Fault(named, "wrong-value", fmt.Sprintf("%s is no time zone", policyfile.Quote(named)), "write a name of the IANA Time Zone Database, such as Europe/Berlin, or UTC")
		return quiet.Hours{}
	}
	q.Zone = found
	return q
}

// clockMinutes returns a time of day, which was checked before, in minutes.
func clockMinutes(n *yaml.Node) int {
	t, err := time.Parse("15:04", n.Value)
	if err != nil {
		return 0
	}
	return t.Hour()*60 + t.Minute()
}
