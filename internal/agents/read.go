package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/hookframe"
)

// decode reads an agent's message. Fields we do not know are the agent's own
// business: a new version of it must not stop all work.
func decode(req hookframe.Request, into any) error {
	if err := json.Unmarshal(req.Raw, into); err != nil {
		return fmt.Errorf("read %s %s: %w", req.Agent, plain(req.Event, hookframe.MaxName), err)
	}
	return nil
}

// sessionOf names a session so that no two agents share one.
func sessionOf(agent, id string) (floodmark.SessionID, error) {
	if id == "" {
		return "", errors.New("the message names no session")
	}
	return floodmark.SessionID(agent + ":" + id), nil
}

// Owns reports whether a session is one of an agent that reports in frames.
// Nobody speaks for it in another way.
func Owns(id floodmark.SessionID) bool {
	agent, _, named := strings.Cut(string(id), ":")
	_, known := dialectOf(agent)
	return named && known
}

// HasProgram reports whether an agent's hooks start a program of their own for
// every event. Others report from inside the agent.
func HasProgram(agent string) bool { return agent == codexName }

// theOwner is whoever types into the agent's own window: nobody else can.
func theOwner(agent string) floodmark.Origin {
	return floodmark.Origin{Kind: floodmark.FromSender, Name: agent, Sender: "owner", IsOwner: true}
}

// texts gathers every text inside a result, one a line, so that values in it
// are found as they stand and not as JSON writes them. What cannot be taken
// apart is taken as it is.
func texts(raw json.RawMessage) string {
	leaves, err := hook.Call{Args: raw}.Leaves()
	if err != nil {
		return string(raw)
	}
	list := make([]string, len(leaves))
	for i, leaf := range leaves {
		list[i] = leaf.Value
	}
	return strings.Join(list, "\n")
}

// mcpTool takes apart the name some agents give to a server's tool:
// mcp__server__tool. A built-in tool keeps its name.
func mcpTool(name string) (server, tool string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok && server != "" && tool != "" {
			return server, tool
		}
	}
	return "", name
}

// object writes an answer as JSON. Its parts are ours and can be written.
func object(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // nobody takes nothing for a yes where an object is due
	}
	return strings.TrimSuffix(b.String(), "\n")
}
