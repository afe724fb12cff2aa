package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Told is how a gate would be asked about a call, for people and programs. Its JSON is
// read by other programs: fields are only added, never renamed.
type Told struct {
	Name     string `json:"name"`
	FailMode string `json:"failMode"`
	Timeout  string `json:"timeout"`
	// Unset says that no settings tell how to reach it, so that the call is refused.
	Unset bool `json:"unset,omitempty"`
}

// Tell describes a gate that has the usual time unless it says otherwise.
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

// Has reports whether a gate is set up, for whichever agent.
func (g Gates) Has(name string) bool {
	return slices.ContainsFunc(g, func(one Gate) bool { return one.Name == name })
}

// Silence is what a gate's silence means, in a few words: for all agents, and for those
// with another mode of their own.
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
