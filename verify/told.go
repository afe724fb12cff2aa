package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Told describes for people and programs how a gate would be asked about a call. Other programs
// read its JSON, so fields are only added and never renamed.
type Told struct {
	Name     string `json:"name"`
	FailMode string `json:"failMode"`
	Timeout  string `json:"timeout"`
	// Unset says that no settings say how to reach the gate, so that the call is refused.
	Unset bool `json:"unset,omitempty"`
}

// Tell describes a gate. Its timeout is usual, unless the gate has its own.
func (g Gate) Tell(usual time.Duration, unset bool) Told {
	if g.Timeout > 0 {
		usual = g.Timeout
	}
	return Told{Name: g.Name, FailMode: g.FailMode.String(), Timeout: usual.String(), Unset: unset}
}

func (t Told) String() string {
	otherwise := "the call is refused"
	switch {
	case t.Unset:
		return "the verifier " + t.Name + " is not described in service.yaml, or switched off there: " + otherwise
	case t.FailMode == FailAllow.String():
		otherwise = "it runs all the same"
	}
	return fmt.Sprintf("the verifier %s must agree before it runs, within %s; without an answer %s (failMode %s)", t.Name, t.Timeout, otherwise, t.FailMode)
}

// Has reports whether there is a gate with a name, for any agent.
func (g Gates) Has(name string) bool {
	return slices.ContainsFunc(g, func(one Gate) bool { return one.Name == name })
}

// Silence says what happens if a gate does not answer: it returns its fail mode for all agents, and
// for each agent that has a different one.
func (g Gates) Silence(name string, mode func(agent string) FailMode) string {
	var said []string
	for i := range g {
		if g[i].Name != name {
			continue
		}
		word := mode(g[i].Agent).String()
		if g[i].Agent != "" {
			word += " for " + g[i].Agent
		}
		if !slices.Contains(said, word) && (len(said) == 0 || !strings.HasPrefix(word, said[0]+" ")) {
			said = append(said, word)
		}
	}
	return strings.Join(said, ", ")
}
