package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const cursorName = "cursor"

// The hook events of Cursor that we answer.
const (
	cursorSessionStart  = "sessionStart"
	cursorPrompt        = "beforeSubmitPrompt"
	cursorPreToolUse    = "preToolUse"
	cursorShell         = "beforeShellExecution"
	cursorMCP           = "beforeMCPExecution"
	cursorReadFile      = "beforeReadFile"
	cursorPostToolUse   = "postToolUse"
	cursorToolFailed    = "postToolUseFailure"
	cursorSubagentStart = "subagentStart"
	cursorSubagentStop  = "subagentStop"
	cursorStop          = "stop"
	cursorSessionEnd    = "sessionEnd"
)

// cursor is the dialect of Cursor, written from its documentation; we never ran it. Our settings
// let it block if a hook fails, so every approval is explicit. No approval is «allow», because that
// would also answer Cursor's own prompt. Cursor ignores «ask» before a tool.
type cursor struct{}

// cursorMessage is what Cursor writes to a hook's standard input.
type cursorMessage struct {
	Event        string   `json:"hook_event_name"`
	Conversation string   `json:"conversation_id"`
	Session      string   `json:"session_id"`
	Roots        []string `json:"workspace_roots"`

	Prompt      string `json:"prompt"`
	Attachments []struct {
		Path      string `json:"file_path"`
		OlderPath string `json:"filePath"`
	} `json:"attachments"`

	Tool   string          `json:"tool_name"`
	Input  json.RawMessage `json:"tool_input"`
	Output json.RawMessage `json:"tool_output"`
	Error  json.RawMessage `json:"error_message"`
	CallID string          `json:"tool_use_id"`

	Command string `json:"command"`
	Folder  string `json:"cwd"`
	File    string `json:"file_path"`

	Child   string `json:"subagent_id"`
	Parent  string `json:"parent_conversation_id"`
	Task    string `json:"task"`
	Summary string `json:"summary"`
}

func (cursor) read(req hookframe.Request) (asked, error) {
	var m cursorMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if err := sameEvent(req.Event, m.Event); err != nil {
		return asked{}, err
	}
	if m.Event == cursorSubagentStart {
		return m.spawned()
	}
	ev, err := m.event(req.Env["HOME"])
	about := asked{event: ev}
	switch m.Event {
	case cursorPreToolUse:
		about.double = cursorDoes(ev.Call)
	case cursorShell, cursorMCP, cursorReadFile:
		about.double, about.second = cursorDoes(ev.Call), true
	}
	return about, err
}

func (m cursorMessage) event(home string) (hook.Event, error) {
	ev := hook.Event{Agent: cursorName}
	var err error
	if ev.Session, err = m.session(); err != nil {
		return ev, err
	}
	switch m.Event {
	case cursorSessionStart: // always a new one
		ev.Point, ev.Cause, ev.Home = hook.SessionStart, hook.Startup, home
		if len(m.Roots) > 0 {
			ev.Project = m.Roots[0]
		}
	case cursorPrompt:
		ev.Point, ev.Text, ev.Origin = hook.MessageReceived, m.Prompt, whoTyped(cursorName, m.Prompt)
		ev.Parts, err = m.attached()
	case cursorPreToolUse, cursorShell, cursorMCP, cursorReadFile:
		ev.Point = hook.BeforeToolCall
		ev.Call, err = m.call()
	case cursorPostToolUse:
		ev.Point, ev.Result.Text = hook.AfterToolCall, texts(unquoted(m.Output))
		ev.Call, err = m.call()
	case cursorToolFailed:
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: texts(m.Error), Error: true}
		ev.Call, err = m.call()
	case cursorSubagentStop:
		ev.Point, ev.Text = hook.SubagentEnded, m.Summary
		ev.Child, err = m.child()
	case cursorStop:
		ev.Point, ev.Audience = hook.BeforeResponseEmit, hook.ToOwner
	case cursorSessionEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of Cursor is not known", floodmark.OneLine(m.Event, hookframe.MaxName))
	}
	return ev, err
}

// session returns the session of the conversation. If a sub-agent begins or ends, it is the
// parent's session.
func (m cursorMessage) session() (floodmark.SessionID, error) {
	switch {
	case (m.Event == cursorSubagentStart || m.Event == cursorSubagentStop) && m.Parent != "":
		return sessionOf(cursorName, m.Parent)
	case m.Event == cursorSubagentStart:
		return "", errors.New("the message does not say whose sub-agent it is")
	case m.Conversation != "":
		return sessionOf(cursorName, m.Conversation)
	}
	return sessionOf(cursorName, m.Session)
}

// child returns a sub-agent's session. A sub-agent that ends without a name is unknown, and so
// untrusted.
func (m cursorMessage) child() (floodmark.SessionID, error) {
	if m.Child == "" && m.Event == cursorSubagentStop {
		return sessionOf(cursorName, "without a name")
	}
	return sessionOf(cursorName, m.Child)
}

// spawned returns the beginning of a sub-agent, with its task in the words of its parent's model.
func (m cursorMessage) spawned() (asked, error) {
	parent, err := m.session()
	if err != nil {
		return asked{}, err
	}
	child, err := m.child()
	return begun(cursorName, parent, child, m.Task), err
}

// attached returns the files that are attached to a prompt, and the files that it mentions.
func (m cursorMessage) attached() ([]hook.Content, error) {
	list, err := mentions(m.Prompt)
	for _, a := range m.Attachments {
		name := a.Path
		if name == "" {
			name = a.OlderPath
		}
		list = append(list, fileNamed(name))
	}
	return list, err
}

// cursorServer is used as the server of a tool, because Cursor does not name the server.
const cursorServer = "MCP"

// call returns the call of any event that reports one.
func (m cursorMessage) call() (hook.Call, error) {
	c := hook.Call{Name: m.Tool, Args: unquoted(m.Input)}
	switch m.Event {
	case cursorShell:
		c.Name, c.Args = "Shell", json.RawMessage(object(map[string]string{"command": m.Command, "cwd": m.Folder}))
	case cursorReadFile:
		c.Name, c.Args = "Read", json.RawMessage(object(map[string]string{"path": m.File}))
	case cursorMCP:
		c.Server = cursorServer
	}
	if tool, ok := strings.CutPrefix(c.Name, cursorServer+":"); ok {
		c.Server, c.Name = cursorServer, tool
	}
	if c.Name == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	// Cursor's call ids contain line breaks.
	if c.ID = floodmark.CallID(strings.Join(strings.Fields(m.CallID), " ")); c.ID == "" {
		c.ID = madeID(c)
	}
	return c, nil
}

// cursorDoes returns a text that is the same for both reports of a call. It is empty if the call is
// reported only once.
func cursorDoes(c hook.Call) string {
	if c.Server != "" {
		return string(madeID(c))
	}
	names := map[string][]string{"Shell": {"command"}, "Read": {"path", "file_path", "target_file"}}[c.Name]
	args, err := members(c.Args)
	if err != nil {
		return ""
	}
	var does []string
	for _, name := range names {
		text, err := args.text(name)
		if err != nil {
			return ""
		}
		if text != "" {
			does = append(does, text)
		}
	}
	if len(does) != 1 {
		return "" // no argument, or more than one
	}
	return c.Name + "\x00" + does[0]
}

// The answers of a hook.
type (
	cursorDeny struct {
		Permission string `json:"permission"`
		ToUser     string `json:"user_message"`
		ToAgent    string `json:"agent_message"`
	}
	cursorReplaced struct {
		Input json.RawMessage `json:"updated_input"`
	}
	cursorHalt struct {
		Continue bool   `json:"continue"`
		ToUser   string `json:"user_message"`
	}
	cursorWithheld struct {
		Context string       `json:"additional_context"`
		Output  cursorOutput `json:"updated_mcp_tool_output"`
	}
	cursorOutput struct {
		Content []cursorText `json:"content"`
	}
	cursorText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
)

func (cursor) write(event string, a answer) hookframe.Response {
	ok := hookframe.Response{V: hookframe.Version, Stdout: "{}"}
	switch {
	case a.why == "" && event == cursorPrompt && a.reply.Consumed:
		ok.Stdout = object(cursorHalt{ToUser: a.notice()})
	case a.why == "" && event == cursorPreToolUse && a.args != nil:
		// Cursor reports the command again before it runs it. If that command differs from this
		// one, it is judged again.
		ok.Stdout = object(cursorReplaced{Input: a.args})
	case a.why == "":
	case event == cursorPreToolUse, event == cursorShell, event == cursorMCP, event == cursorReadFile, event == cursorSubagentStart:
		ok.Stdout = object(cursorDeny{Permission: "deny", ToUser: a.reason(), ToAgent: a.reason()})
	case event == cursorPrompt:
		ok.Stdout = object(cursorHalt{ToUser: a.reason()})
	case event == cursorPostToolUse:
		// Only a server tool's result can be withheld.
		ok.Stdout = object(cursorWithheld{Context: a.reason(), Output: cursorOutput{Content: []cursorText{{Type: "text", Text: a.reason()}}}})
	case event == cursorStop, event == cursorSubagentStop:
		ok.Stdout, ok.Stderr, ok.Exit = "", a.reason()+"\n", 1
	default:
		ok.Stdout, ok.Stderr, ok.Exit = "", a.reason()+"\n", hookframe.Refused
	}
	return ok
}
