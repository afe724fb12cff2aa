package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"go.yaml.in/yaml/v3"
)

// A Standing is what the owner allows a scheduled job in advance: one sort of
// call, spelled out as a question would, for a time. The zero Standing allows
// nothing.
type Standing struct {
	Name string
	// Agent, Trigger and Job say whose job it is: the agent, what the agent's
	// door says started the session, such as cron, and which job it was. Without
	// a Job it is any of that trigger.
	Agent, Trigger, Job string
	// Call is the pattern of the call, byte for byte as a question prints it.
	Call string
	// Mark is how low the session may stand at most.
	Mark floodmark.Label
	// From is when it begins, Until when it is over.
	From, Until time.Time
}

// The limits of standing approvals.
const (
	MaxStanding      = 90 * 24 * time.Hour // longer ones are forgotten by those who gave them
	maxStandingCount = 64
)

// Holds reports whether its time has come and is not over.
func (s Standing) Holds(at time.Time) bool { return !at.Before(s.From) && at.Before(s.Until) }

// Standing returns what is allowed to scheduled jobs, whether its time has come or
// not.
func (p *Policy) Standing() []Standing {
	if p == nil {
		return nil
	}
	return slices.Clone(p.standing)
}

func (r *reader) standing(n *yaml.Node) []Standing {
	var out []Standing
	for _, c := range items(n) {
		s := Standing{Name: value(c, "name").Value, Agent: value(c, "agent").Value, Trigger: value(c, "trigger").Value, Call: value(c, "call").Value}
		set(value(c, "job"), func(n *yaml.Node) { s.Job = n.Value })
		s.Mark.Trust, _ = floodmark.ParseTrust(value(c, "trust").Value)
		s.Mark.Secrecy, _ = floodmark.ParseSecrecy(value(c, "secrecy").Value)
		s.From = dayOf(value(c, "from"))
		s.Until = dayOf(value(c, "until")).AddDate(0, 0, 1) // the day itself counts
		switch {
		case !s.From.Before(s.Until):
			r.fault(value(c, "until"), "wrong-value", "it would end before it begins", "write a day that is not before from")
		case s.Until.Sub(s.From) > MaxStanding:
			r.fault(value(c, "until"), "wrong-value", fmt.Sprintf("it would hold longer than %d days", int(MaxStanding.Hours()/24)), "write "+s.From.Add(MaxStanding).AddDate(0, 0, -1).Format(time.DateOnly)+" or an earlier day")
		}
		if strings.ContainsAny(s.Call, "*?{}") {
			r.fault(value(c, "call"), "wrong-value", "a standing approval names one sort of call, without wildcards", "copy the pattern that «floodmark policy grants add» prints")
		}
		if slices.ContainsFunc(out, func(o Standing) bool { return o.Name == s.Name }) {
			r.fault(value(c, "name"), "duplicate-name", fmt.Sprintf("there are two standing approvals named %q", s.Name), "give each a name of its own")
		}
		out = append(out, s)
	}
	return out
}

// dayOf is the beginning of a day in UTC; it was checked before.
func dayOf(n *yaml.Node) time.Time {
	t, err := time.Parse(time.DateOnly, n.Value)
	if err != nil {
		return time.Time{}
	}
	return t
}

func standingShape() *shape {
	a := func(noun, about string) *shape {
		return &shape{kind: text, noun: noun, about: about, low: 1, high: maxText}
	}
	return &shape{kind: list, noun: "a list of standing approvals", about: "What scheduled jobs may do without asking, for a time.", high: maxStandingCount, item: &shape{
		kind: mapping, noun: "a standing approval", keys: []key{
			{name: "name", need: true, shape: a("a name", "What it is called in the journal.")},
			{name: "agent", need: true, shape: a("an agent", "The agent whose job it is.")},
			{name: "trigger", need: true, shape: a("a trigger", "What started the session, as the agent's door says: cron, heartbeat.")},
			{name: "job", shape: a("a job", "Which job; without it any of that trigger.")},
			{name: "call", need: true, shape: a("a call", "The call, as the pattern of a question spells it.")},
			{name: "trust", need: true, shape: &shape{kind: word, noun: "a trust level", about: "The lowest the session may have sunk to.", words: levelWords()}},
			{name: "secrecy", need: true, shape: &shape{
				kind: word, noun: "a secrecy above secret", about: "The most guarded the session may have read.",
				words: []string{floodmark.Private.String(), floodmark.Internal.String(), floodmark.Public.String()},
			}},
			{name: "from", need: true, shape: &shape{kind: day, noun: "a day", about: "The first day it holds, in UTC."}},
			{name: "until", need: true, shape: &shape{kind: day, noun: "a day", about: "The last day it holds, in UTC; at most 90 days in all."}},
		},
	}}
}
