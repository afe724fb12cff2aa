package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const codexName = "codex"

// The hook events of Codex 0.166 that we answer.
const (
	codexSessionStart  = "SessionStart"
	codexPrompt        = "UserPromptSubmit"
	codexPreToolUse    = "PreToolUse"
	codexPostToolUse   = "PostToolUse"
	codexSubagentStart = "SubagentStart"
	codexSubagentStop  = "SubagentStop"
	codexStop          = "Stop"
	codexSessionEnd    = "SessionEnd"
)

// codex is the dialect of Codex. Tests with Codex showed that the call runs if a hook crashes,
// hangs, answers «ask», or has one field too many. So every denial has exactly one of the forms
// below.
type codex struct{}

// codexMessage is what Codex writes to a hook's standard input.
type codexMessage struct {
	Event     string `json:"hook_event_name"`
	Session   string `json:"session_id"`
	AgentID   string `json:"agent_id"`
	Folder    string `json:"cwd"`
	Source    string `json:"source"`
	Prompt    string `json:"prompt"`
	LastWords string `json:"last_assistant_message"`

	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	CallID   string          `json:"tool_use_id"`
}

func (codex) read(req hookframe.Request) (asked, error) {
	var m codexMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if err := sameEvent(req.Event, m.Event); err != nil {
		return asked{}, err
	}
	if m.Event == codexPrompt && m.AgentID != "" {
		return m.spawned()
	}
	ev, err := m.event(req.Env["HOME"])
	return asked{event: ev}, err
}

func (m codexMessage) event(home string) (hook.Event, error) {
	ev := hook.Event{Agent: codexName}
	var err error
	if ev.Session, err = m.session(); err != nil {
		return ev, err
	}
	switch m.Event {
	case codexSessionStart:
		ev.Point, ev.Project, ev.Home = hook.SessionStart, m.Folder, home
		ev.Cause, err = codexCause(m.Source)
	case codexPrompt:
		ev.Point, ev.Text, ev.Origin = hook.MessageReceived, m.Prompt, whoTyped(codexName, m.Prompt)
	case codexPreToolUse:
		ev.Point = hook.BeforeToolCall
		ev.Call, err = m.call()
	case codexPostToolUse:
		ev.Point, ev.Result.Text = hook.AfterToolCall, texts(m.Response)
		ev.Call, err = m.call()
	case codexSubagentStart:
		// The prompt follows as a UserPromptSubmit: see spawned.
		_, err = sessionOf(codexName, m.AgentID)
		err = cmp.Or(err, errNothing)
	case codexSubagentStop:
		ev.Point, ev.Text = hook.SubagentEnded, m.LastWords
		ev.Child, err = sessionOf(codexName, m.AgentID)
	case codexStop:
		ev.Point, ev.Text, ev.Audience = hook.BeforeResponseEmit, m.LastWords, hook.ToOwner
	case codexSessionEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of Codex is not known", floodmark.OneLine(m.Event, hookframe.MaxName))
	}
	return ev, err
}

// spawned returns a prompt to a sub-agent, written by the model of its parent.
func (m codexMessage) spawned() (asked, error) {
	parent, err := sessionOf(codexName, m.Session)
	if err != nil {
		return asked{}, err
	}
	child, err := sessionOf(codexName, m.AgentID)
	return begun(codexName, parent, child, m.Prompt), err
}

// session returns the session of the sub-agent that acts, or else the person's session.
func (m codexMessage) session() (floodmark.SessionID, error) {
	switch m.Event {
	case codexSubagentStart, codexSubagentStop:
	default:
		if m.AgentID != "" {
			return sessionOf(codexName, m.AgentID)
		}
	}
	return sessionOf(codexName, m.Session)
}

// codexCause returns why a session starts. Codex does not say who cleared the context, and its
// model can request a clear, so a clear is never reported as a person's.
func codexCause(source string) (hook.Cause, error) {
	switch c := hook.Cause(source); c {
	case hook.Startup, hook.Resume, hook.Clear, hook.Compact:
		return c, nil
	}
	return "", fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(source, hookframe.MaxName))
}

// codexSpawn is the tool that begins a sub-agent. codexAgents is the group of that tool: Codex puts
// the group's name before the names of some tools, without a separator.
const (
	codexSpawn  = "spawn_agent"
	codexAgents = "multi_agent_v1"
)

func (m codexMessage) call() (hook.Call, error) {
	name := strings.TrimPrefix(m.Tool, codexAgents)
	if name == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	if name == codexSpawn && m.AgentID != "" && m.Event == codexPreToolUse {
		// Codex would report the new sub-agent as begun by the person's session, and its true
		// parent's sources would be lost.
		return hook.Call{}, errors.New("a sub-agent may not begin another one, because Codex does not say whose it is")
	}
	c := hook.Call{ID: floodmark.CallID(m.CallID), Args: m.Input}
	c.Server, c.Name = mcpTool(name)
	return c, nil
}

// write prints nothing and exits with status 0 for an approval. Every other answer is explicit.
func (codex) write(event string, a answer) hookframe.Response {
	ok := hookframe.Response{V: hookframe.Version}
	switch {
	case a.why == "" && event == codexPrompt && a.reply.Consumed:
		ok.Stdout = object(said{Decision: "block", Reason: a.notice()})
	case a.why == "" && event == codexPreToolUse && a.args != nil:
		ok.Stdout = object(replaced{replacement{Event: event, Decision: "allow", Input: a.args}})
	case a.why == "":
	case event == codexPreToolUse:
		// Codex appends a full stop.
		ok.Stdout = object(permitted{permission{Event: event, Decision: "deny", Reason: strings.TrimSuffix(a.reason(), ".")}})
	case event == codexPostToolUse, event == codexPrompt:
		// After a tool this replaces the result; at a prompt the model is not called.
		ok.Stdout = object(said{Decision: "block", Reason: a.reason()})
	case event == codexStop, event == codexSubagentStop:
		// Here a denial would make the agent continue, so it is stopped instead.
		ok.Stderr, ok.Exit = a.reason()+"\n", 1
	default:
		ok.Stderr, ok.Exit = a.reason()+"\n", hookframe.Refused
	}
	return ok
}
