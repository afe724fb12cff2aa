package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// decode reads an agent's message. It ignores unknown fields, because a new version of the agent
// must not stop all work.
func decode(req hookframe.Request, into any) error {
	if err := json.Unmarshal(req.Raw, into); err != nil {
		return fmt.Errorf("read %s %s: %w", req.Agent, floodmark.OneLine(req.Event, hookframe.MaxName), err)
	}
	return nil
}

// named holds the members of an object that a model wrote, by their exact names. A struct would
// also accept «Command» for «command», which agents do not.
type named map[string]json.RawMessage

func members(raw json.RawMessage) (named, error) {
	var m named
	err := json.Unmarshal(raw, &m)
	return m, err
}

// text returns a text member; empty if it is missing.
func (m named) text(name string) (text string, err error) {
	if raw, there := m[name]; there {
		err = json.Unmarshal(raw, &text)
	}
	return text, err
}

// sessionOf returns the name of a session, with the agent's name in it, so that no two agents share
// one.
func sessionOf(agent, id string) (floodmark.SessionID, error) {
	if id == "" {
		return "", errors.New("the message names no session")
	}
	return floodmark.SessionID(agent + ":" + id), nil
}

// sameEvent returns an error if a message is of another event than the hook's.
func sameEvent(hook, message string) error {
	if hook == message {
		return nil
	}
	return fmt.Errorf("the hook was set up for %s and called for %s", floodmark.OneLine(hook, hookframe.MaxName), floodmark.OneLine(message, hookframe.MaxName))
}

// begun returns the events of a prompt to a sub-agent, which a model wrote. The first prompt begins
// the sub-agent's session, with everything its parent has read so far. A later prompt may come from
// newer sources of the parent, so it is not trusted.
func begun(agent string, parent, child floodmark.SessionID, prompt string) asked {
	return asked{
		event: hook.Event{Agent: agent, Point: hook.SubagentSpawned, Session: parent, Child: child, Text: prompt},
		otherwise: &hook.Event{
			Agent: agent, Point: hook.MessageReceived, Session: child, Text: prompt,
			Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt of another agent"},
		},
	}
}

// madePrefix begins the ids that madeID returns.
const madePrefix = "made:"

// madeID returns an id that is derived from a call, for agents whose calls have none, so that the
// id is the same before and after the tool. Two equal calls at the same time share an id. Either
// result may then be attributed to either call, which makes no difference.
func madeID(c hook.Call) floodmark.CallID {
	var args bytes.Buffer
	if json.Compact(&args, c.Args) != nil {
		args.Reset()
		args.Write(c.Args)
	}
	return floodmark.CallID(madePrefix + floodmark.DigestOf(c.Server+"\x00"+c.Name+"\x00"+args.String()).String())
}

// unquoted decodes an object that an agent may send as a JSON text.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	if inner := bytes.TrimSpace([]byte(text)); len(inner) > 0 && inner[0] == '{' && json.Valid(inner) {
		return inner
	}
	return raw
}

// Owns reports whether a session belongs to an agent that reports through this package. Code for
// other agents must not report events for it.
func Owns(id floodmark.SessionID) bool {
	agent, _, named := strings.Cut(string(id), ":")
	_, known := dialectOf(agent)
	return named && known
}

// HasProgram reports whether an agent's hooks start a program of their own for
// every event. Others report from inside the agent.
func HasProgram(agent string) bool {
	return slices.Contains([]string{claudeName, codexName, copilotName, cursorName, geminiName}, agent)
}

// theOwner returns the origin of text that was typed into the agent's own window.
func theOwner(agent string) floodmark.Origin {
	return floodmark.Origin{Kind: floodmark.FromSender, Name: agent, Sender: "owner", IsOwner: true}
}

// whoTyped returns the origin of a prompt: the owner, unless the agent itself wrote it.
func whoTyped(agent, prompt string) floodmark.Origin {
	if injected(prompt) {
		return floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt that nobody typed"}
	}
	return theOwner(agent)
}

// injected reports whether the agent itself inserted a prompt: the end and result of a background
// task, or a message of another session or a tool server. Agents call the prompt hook for such
// prompts, too, and mark them only by a tag such as <task-notification>.
func injected(prompt string) bool {
	for _, mark := range []string{
		"<task-notification", "<agent-message", "<teammate-message", "<cross-session-message", "<channel source=",
		"Another Claude session sent a message:",
	} {
		if strings.Contains(prompt, mark) {
			return true
		}
	}
	tag, is := strings.CutPrefix(strings.TrimFunc(prompt, isSpace), "<")
	name, _, whole := strings.Cut(tag, ">")
	name, _, _ = strings.Cut(name, " ")
	return is && whole && strings.ContainsAny(name, "-_") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// texts returns all texts inside a result, one on each line, so that values are found unescaped. A
// result that cannot be parsed is returned as it is.
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

// mcpTool splits the name that some agents give to a server's tool, mcp__server__tool. The name of
// a built-in tool stays.
func mcpTool(name string) (server, tool string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok && server != "" && tool != "" {
			return server, tool
		}
	}
	return "", name
}

// object encodes an answer as JSON. Encoding our own values never fails.
func object(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // an empty answer approves nothing
	}
	return strings.TrimSuffix(b.String(), "\n")
}
