package agents

import (
	"errors"
	"regexp"
	"strings"
)

// Which of OpenClaw's agents runs: its gateway decides that by its settings, and no
// message does. To us it is «openclaw/work»; what is said of «openclaw» holds for all.

// openclawID is what OpenClaw makes of the name of an agent.
var openclawID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// agent is the agent of a session, by its key «agent:work:…»; empty if the key says
// nothing.
func (s openclawSession) agent() string {
	id, rest, ok := strings.Cut(strings.TrimPrefix(s.Key, "agent:"), ":")
	if !ok || rest == "" || !strings.HasPrefix(s.Key, "agent:") || !openclawID.MatchString(id) {
		return ""
	}
	return openclawName + "/" + id
}

// agent is who runs. A run of one agent in the session of another is not believed.
func (m openclawSays) agent() (string, error) {
	of := m.openclawSession.agent()
	if m.AgentID == "" && of == "" {
		return openclawName, nil // what is said of one agent does not hold
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
