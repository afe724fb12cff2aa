package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// A Standing is what the owner allows a scheduled job in advance: one sort of
// call, spelled out as a question would, for a time. The zero Standing allows
// nothing.
type Standing struct {
	Name string
	// Agent, Trigger and Job say which sessions it is for. Agent is the agent. Trigger is what
	// started the session, such as cron, as the agent's adapter reports it. Job is the job of that
	// trigger; if empty, any job.
	Agent, Trigger, Job string
	// Call is the pattern of the call, byte for byte as a question prints it.
	Call string
	// Mark is the lowest mark the session may have.
	Mark floodmark.Label
	// From is when it comes into effect. Until is when it ends.
	From, Until time.Time
}

// MaxStanding is how long a standing approval may be in effect. The owner would forget that they
// gave a longer one.
const MaxStanding = 90 * 24 * time.Hour

// Holds reports whether the approval is in effect at a time.
func (s Standing) Holds(at time.Time) bool { return !at.Before(s.From) && at.Before(s.Until) }

// Standing returns all standing approvals, also those that are not in effect yet or
// any more.
func (p *Policy) Standing() []Standing {
	if p == nil {
		return nil
	}
	return slices.Clone(p.standing)
}

func readStanding(r *policyfile.Reader, n *yaml.Node) []Standing {
	var out []Standing
	for _, c := range policyfile.Items(n) {
		s := Standing{Name: policyfile.Value(c, "name").Value, Agent: policyfile.Value(c, "agent").Value, Trigger: policyfile.Value(c, "trigger").Value, Call: policyfile.Value(c, "call").Value}
		set(policyfile.Value(c, "job"), func(n *yaml.Node) { s.Job = n.Value })
		s.Mark.Trust, _ = floodmark.ParseTrust(policyfile.Value(c, "trust").Value)
		s.Mark.Secrecy, _ = floodmark.ParseSecrecy(policyfile.Value(c, "secrecy").Value)
		s.From = dayOf(policyfile.Value(c, "from"))
		s.Until = dayOf(policyfile.Value(c, "until")).AddDate(0, 0, 1) // the day itself counts
		switch {
		case !s.From.Before(s.Until):
			r.Fault(policyfile.Value(c, "until"), "wrong-value", "it would end before it begins", "write a day that is not before from")
		case s.Until.Sub(s.From) > MaxStanding:
			r.Fault(policyfile.Value(c, "until"), "wrong-value", fmt.Sprintf("it would hold longer than %d days", int(MaxStanding.Hours()/24)), "write "+s.From.Add(MaxStanding).AddDate(0, 0, -1).Format(time.DateOnly)+" or an earlier day")
		}
		if strings.ContainsAny(s.Call, "*?{}") {
			r.Fault(policyfile.Value(c, "call"), "wrong-value", "a standing approval names one sort of call, without wildcards", "copy the pattern that «floodmark policy grants add» prints")
		}
		if slices.ContainsFunc(out, func(o Standing) bool { return o.Name == s.Name }) {
			r.Fault(policyfile.Value(c, "name"), "duplicate-name", fmt.Sprintf("there are two standing approvals named %q", s.Name), "give each a name of its own")
		}
		out = append(out, s)
	}
	return out
}

// dayOf returns the beginning of a day, which was checked before, in UTC.
func dayOf(n *yaml.Node) time.Time {
	t, err := time.Parse(time.DateOnly, n.Value)
	if err != nil {
		return time.Time{}
	}
	return t
}
