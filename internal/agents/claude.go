package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const claudeName = "claude-code"

// The hook events of Claude Code 2.1 that we answer.
const (
	claudeSessionStart  = "SessionStart"
	claudePrompt        = "UserPromptSubmit"
	claudeExpansion     = "UserPromptExpansion"
	claudePreToolUse    = "PreToolUse"
	claudePostToolUse   = "PostToolUse"
	claudeToolFailed    = "PostToolUseFailure"
	claudeSubagentStart = "SubagentStart"
	claudeSubagentStop  = "SubagentStop"
	claudeStop          = "Stop"
	claudeSessionEnd    = "SessionEnd"
)

// claude is the dialect of Claude Code, written from its documentation; we never ran it. If a hook
// is late, or fails with any status but 2, the call runs.
type claude struct{}

// claudeMessage is what Claude Code writes to a hook's standard input.
type claudeMessage struct {
	Event     string `json:"hook_event_name"`
	Session   string `json:"session_id"`
	AgentID   string `json:"agent_id"`
	Folder    string `json:"cwd"`
	Source    string `json:"source"`
	Prompt    string `json:"prompt"`
	Expansion string `json:"expansion_type"`
	LastWords string `json:"last_assistant_message"`

	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Error    json.RawMessage `json:"error"`
	Mode     string          `json:"permission_mode"`
	CallID   string          `json:"tool_use_id"`

	// Cursor runs Claude Code's hooks as well as its own.
	Cursor string `json:"cursor_version"`
}

func (claude) read(req hookframe.Request) (asked, error) {
	var m claudeMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if m.Cursor != "" {
		// Cursor names itself in the message, which a project cannot forge. The variable
		// CURSOR_VERSION is not used, because a project can set it.
		return asked{}, errNothing
	}
	if err := sameEvent(req.Event, m.Event); err != nil {
		return asked{}, err
	}
	if m.Event == claudeSubagentStart || m.Event == claudePrompt && m.AgentID != "" {
		return m.spawned()
	}
	ev, err := m.event(req.Env["HOME"])
	return asked{event: ev, result: m.Response, window: m.asks(req.Env["CLAUDE_CODE_ENTRYPOINT"])}, err
}

// asks reports whether Claude Code asks in a window that a person is looking at. In any other mode
// it may approve by itself, or show a window that goes unanswered; and a sub-agent may work
// unattended.
func (m claudeMessage) asks(entry string) bool {
	return m.Event == claudePreToolUse && m.Mode == "default" && m.AgentID == "" && entry == "cli"
}

func (m claudeMessage) event(home string) (hook.Event, error) {
	ev := hook.Event{Agent: claudeName}
	var err error
	if ev.Session, err = m.session(); err != nil {
		return ev, err
	}
	switch m.Event {
	case claudeSessionStart:
		ev.Point, ev.Project, ev.Home = hook.SessionStart, m.Folder, home
		ev.Cause, err = claudeCause(m.Source)
	case claudePrompt:
		ev.Point, ev.Text, ev.Origin = hook.MessageReceived, m.Prompt, whoTyped(claudeName, m.Prompt)
		ev.Parts, err = mentions(m.Prompt)
	case claudeExpansion:
		ev.Point, ev.Sources = hook.ContextAssembled, m.expanded()
	case claudePreToolUse:
		ev.Point = hook.BeforeToolCall
		ev.Call, err = m.call()
	case claudePostToolUse:
		ev.Point, ev.Result.Text = hook.AfterToolCall, texts(m.Response)
		ev.Call, err = m.call()
	case claudeToolFailed:
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: texts(m.Error), Error: true}
		ev.Call, err = m.call()
	case claudeSubagentStop:
		ev.Point, ev.Text = hook.SubagentEnded, m.LastWords
		ev.Child, err = sessionOf(claudeName, m.AgentID)
	case claudeStop:
		ev.Point, ev.Text, ev.Audience = hook.BeforeResponseEmit, m.LastWords, hook.ToOwner
	case claudeSessionEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of Claude Code is not known", floodmark.OneLine(m.Event, hookframe.MaxName))
	}
	return ev, err
}

// session returns the session of the sub-agent that acts, or else the person's session.
func (m claudeMessage) session() (floodmark.SessionID, error) {
	if m.AgentID != "" && m.Event != claudeSubagentStop {
		return sessionOf(claudeName, m.AgentID)
	}
	return sessionOf(claudeName, m.Session)
}

// spawned returns the beginning of a sub-agent. The event may lack its prompt, so the sub-agent
// inherits everything that its parent has read.
func (m claudeMessage) spawned() (asked, error) {
	parent, err := sessionOf(claudeName, m.Session)
	if err != nil {
		return asked{}, err
	}
	child, err := sessionOf(claudeName, m.AgentID)
	return begun(claudeName, parent, child, m.Prompt), err
}

// claudeCause returns why a session starts. A cleared context may begin with an earlier plan, so a
// clear is not reported as the person's.
func claudeCause(source string) (hook.Cause, error) {
	switch source {
	case "startup":
		return hook.Startup, nil
	case "resume", "fork":
		return hook.Resume, nil
	case "clear":
		return hook.Clear, nil
	case "compact":
		return hook.Compact, nil
	}
	return "", fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(source, hookframe.MaxName))
}

// expanded returns what a typed command adds to the context without a call: a skill, or the text of
// a tool server.
func (m claudeMessage) expanded() []hook.Content {
	tool := "ReadMcpResourceTool"
	if m.Expansion == "slash_command" {
		tool = "Skill"
	}
	return []hook.Content{{Kind: floodmark.NodeToolResult, Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: tool}}}
}

func (m claudeMessage) call() (hook.Call, error) {
	if m.Tool == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	if m.AgentID != "" && m.Event == claudePreToolUse && slices.Contains([]string{"Agent", "Task", "TeamCreate", "Workflow"}, m.Tool) {
		// Claude Code would report the new sub-agent as begun by the person's session, and its true
		// parent's sources would be lost.
		return hook.Call{}, errors.New("a sub-agent may not begin another one, because Claude Code does not say whose it is")
	}
	c := hook.Call{ID: floodmark.CallID(m.CallID), Args: m.Input}
	c.Server, c.Name = mcpTool(m.Tool)
	return c, nil
}

// The answers of a hook.
type (
	claudeStopped struct {
		Continue bool   `json:"continue"`
		Stop     string `json:"stopReason"`
		said
	}
	claudeWithheld struct {
		said
		Specific claudeOutput `json:"hookSpecificOutput"`
	}
	claudeOutput struct {
		Event  string `json:"hookEventName"`
		Output any    `json:"updatedToolOutput"`
	}
)

// write prints nothing and exits with status 0 for an approval. Every other answer is explicit.
func (claude) write(event string, a answer) hookframe.Response {
	ok := hookframe.Response{V: hookframe.Version}
	switch {
	case a.why == "" && event == claudePrompt && a.reply.Consumed:
		ok.Stdout = object(said{Decision: "block", Reason: a.notice()})
	case a.why == "" && event == claudePreToolUse && a.args != nil:
		ok.Stdout = object(replaced{replacement{Event: event, Input: a.args}})
	case a.why == "":
	case event == claudePreToolUse && a.ask:
		ok.Stdout = object(permitted{permission{Event: event, Decision: "ask", Reason: a.question(maxReason)}})
	case event == claudePreToolUse:
		ok.Stdout = object(permitted{permission{Event: event, Decision: "deny", Reason: a.reason()}})
	case event == claudePrompt, event == claudeExpansion:
		ok.Stdout = object(said{Decision: "block", Reason: a.reason()})
	case event == claudePostToolUse:
		ok.Stdout = object(claudeKept(a))
	case event == claudeStop, event == claudeSubagentStop:
		// Here a denial would make the agent continue, so it is stopped instead.
		ok.Stderr, ok.Exit = a.reason()+"\n", 1
	default:
		ok.Stderr, ok.Exit = a.reason()+"\n", hookframe.Refused
	}
	return ok
}

// claudeKept returns the answer that withholds a result from the model. If the result cannot be
// rewritten, it ends the turn.
func claudeKept(a answer) any {
	block := said{Decision: "block", Reason: a.reason()}
	out, ok := emptied(a.about, a.reason())
	if !ok {
		return claudeStopped{Stop: a.reason(), said: block}
	}
	return claudeWithheld{said: block, Specific: claudeOutput{Event: claudePostToolUse, Output: out}}
}
