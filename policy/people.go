package policy

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// People are those who may approve what takes two of them: each with the names
// under which the owner's channels know him, as [Settings.Person] takes them. One
// person under two names is one.
type People map[string]string // by name: who it is

// Person is whom a channel has proved, if the policy knows him: owner.sock and
// telegram with a user's number, token and certificate with their name, oidc with
// the name that the identity provider gives. A number may stand behind «user», as
// these two channels write it; a name is taken as it is.
func (s Settings) Person(channel, name string) (string, bool) {
	if channel == "owner.sock" || channel == "telegram" {
		name = strings.TrimPrefix(name, "user ")
	}
	who, ok := s.People[channel+":"+name]
	return who, ok
}

// provers are the channels that prove who answers. A conversation with an agent is
// not among them: who speaks there is the agent's word.
func provers() []string { return []string{"owner.sock", "token", "certificate", "telegram", "oidc"} }

// people reads who may approve what takes two.
func (r *reader) people(approvals *yaml.Node) People {
	out := People{}
	persons, values := pairs(value(approvals, "people"))
	for i, p := range persons {
		for _, n := range items(values[i]) {
			channel, name, ok := strings.Cut(n.Value, ":")
			if !ok || name == "" || !slices.Contains(provers(), channel) {
				r.fault(n, "wrong-value", fmt.Sprintf("%s says nobody that a channel could prove", shown(n)), "write owner.sock:1000, telegram:4711, token:NAME, certificate:NAME or oidc:NAME")
			}
			if other, twice := out[n.Value]; twice {
				r.fault(n, "duplicate-name", fmt.Sprintf("%s is %s already", shown(n), other), "give it to one person")
			}
			out[n.Value] = p.Value
		}
	}
	if two := value(approvals, "admin"); yes(two, "two") && len(persons) < 2 {
		r.fault(two, "wrong-value", "nobody could approve it: it takes two people, and the policy does not name two", "name them under approvals.people: {anna: [\"telegram:4711\"], ben: [\"telegram:4712\"]}")
	}
	return out
}

func peopleShape() *shape {
	return &shape{
		kind: named, noun: "people by name", about: "Who may approve what takes two people, with the names that channels prove.", high: maxItems,
		item: &shape{kind: list, noun: "a list of names", low: 1, high: 16, item: textShape("a channel and a name")},
	}
}
