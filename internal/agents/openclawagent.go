package agents

import (
	"errors"
	"regexp"
	"strings"
)

// OpenClaw's gateway decides by its settings, not by messages, which agent runs. We name such an
// agent «openclaw/work». A rule for «openclaw» applies to all of them.

// openclawID is the form of an agent's id in OpenClaw.
var openclawID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// agent returns the agent of a session, from its key «agent:work:…»; empty if the key names none.
func (s openclawSession) agent() string {
	id, rest, ok := strings.Cut(strings.TrimPrefix(s.Key, "agent:"), ":")
	if !ok || rest == "" || !strings.HasPrefix(s.Key, "agent:") || !openclawID.MatchString(id) {
		return ""
	}
	return openclawName + "/" + id
}

// agent returns the running agent. If the message and its session name different agents, it is
// refused.
func (m openclawSays) agent() (string, error) {
	of := m.openclawSession.agent()
	if m.AgentID == "" && of == "" {
		return openclawName, nil // rules for a single agent do not apply
	}
	if m.AgentID == "" {
		return of, nil
	}
	id := openclawName + "/" + strings.ToLower(m.AgentID)
	switch {
	case !openclawID.MatchString(strings.ToLower(m.AgentID)):
		return "", errors.New("the message names an agent as OpenClaw does not")
	case of != "" && of != id:
		return "", errors.New("the message names two agents")
	}
	return id, nil
}
