package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const geminiName = "gemini-cli"

// The hook events of Gemini CLI 0.61 that we answer.
const (
	geminiSessionStart = "SessionStart"
	geminiBeforeAgent  = "BeforeAgent"
	geminiBeforeTool   = "BeforeTool"
	geminiAfterTool    = "AfterTool"
	geminiAfterAgent   = "AfterAgent"
	geminiSessionEnd   = "SessionEnd"
)

// gemini is the dialect of Gemini CLI. Tests with it showed that the call runs if a hook is killed,
// is late, exits with status 1 or prints anything but JSON, and that «ask» hangs if nobody is
// there. It names neither calls nor sub-agents, so everything that a sub-agent does and reads
// belongs to its parent's session.
type gemini struct{}

// geminiMessage is what Gemini CLI writes to a hook's standard input.
type geminiMessage struct {
	Event   string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Folder  string `json:"cwd"`
	Source  string `json:"source"`
	Prompt  string `json:"prompt"`
	Answer  string `json:"prompt_response"`

	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
	MCP   struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"mcp_context"`
	Response struct {
		Content json.RawMessage `json:"llmContent"`
		Error   json.RawMessage `json:"error"`
	} `json:"tool_response"`
}

func (gemini) read(req hookframe.Request) (asked, error) {
	var m geminiMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if err := sameEvent(req.Event, m.Event); err != nil {
		return asked{}, err
	}
	ev := hook.Event{Agent: geminiName}
	var instead json.RawMessage
	var err error
	if ev.Session, err = sessionOf(geminiName, m.Session); err != nil {
		return asked{}, err
	}
	switch m.Event {
	case geminiSessionStart:
		ev.Point, ev.Project, ev.Home = hook.SessionStart, m.Folder, req.Env["HOME"]
		ev.Cause, ev.ByPerson, err = geminiCause(m.Source)
	case geminiBeforeAgent:
		ev.Point, ev.Origin = hook.MessageReceived, whoTyped(geminiName, m.Prompt)
		ev.Text, ev.Parts = geminiPrompt(m.Prompt)
		if text, is := geminiServerPrompt(m.Prompt); is {
			ev.Text, ev.Parts = text, nil
			ev.Origin = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt of a tool server"}
		}
	case geminiBeforeTool:
		ev.Point = hook.BeforeToolCall
		if instead, err = m.pinned(); err == nil {
			ev.Call, err = m.call()
		}
	case geminiAfterTool:
		ev.Point, ev.Result = hook.AfterToolCall, m.result()
		ev.Call, err = m.call()
	case geminiAfterAgent:
		ev.Point, ev.Text, ev.Audience = hook.BeforeResponseEmit, m.Answer, hook.ToOwner
	case geminiSessionEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of Gemini CLI is not known", floodmark.OneLine(m.Event, hookframe.MaxName))
	}
	return asked{event: ev, instead: instead}, err
}

// geminiCause returns why a session starts. A clear is always the person's own «/clear», because
// the model cannot request one.
func geminiCause(source string) (cause hook.Cause, byPerson bool, err error) {
	switch source {
	case "startup":
		return hook.Startup, false, nil
	case "resume":
		return hook.Resume, false, nil
	case "clear":
		return hook.Clear, true, nil
	}
	return "", false, fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(source, hookframe.MaxName))
}

// geminiFiles is the line after which Gemini CLI adds what a prompt refers to with an @: files, and
// resources of tool servers.
const geminiFiles = "--- Content from referenced files ---"

// geminiPrompt splits a prompt into the typed text and the files that were added. The added text
// says where each file begins in words that a file could contain, too, so all of it is trusted only
// as much as pasted text.
func geminiPrompt(prompt string) (string, []hook.Content) {
	typed, read, found := strings.Cut(prompt, geminiFiles)
	if !found {
		return prompt, nil
	}
	return strings.TrimSuffix(typed, "\n"), []hook.Content{{
		Kind:   floodmark.NodeInput,
		Origin: floodmark.Origin{Kind: floodmark.FromPaste, Name: "files named in the prompt"},
		Text:   read,
	}}
}

// geminiServerPrompt reports whether a tool server wrote the prompt, and the person only called it
// by its name. Gemini CLI quotes such a prompt as JSON. A typed prompt that is in quotes as a whole
// is mistaken for one.
func geminiServerPrompt(prompt string) (text string, is bool) {
	prompt = strings.TrimSpace(prompt)
	is = strings.HasPrefix(prompt, `"`) && json.Unmarshal([]byte(prompt), &text) == nil
	return text, is
}

// call returns the tool call. Its id is derived from the call, so it is the same before and after
// the tool.
func (m geminiMessage) call() (hook.Call, error) {
	c := hook.Call{Server: m.MCP.Server, Name: m.MCP.Tool, Args: m.Input}
	if c.Server == "" || c.Name == "" {
		c.Server, c.Name = "", m.Tool
	}
	if c.Name == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	if args, err := m.pinned(); err == nil && args != nil {
		c.Args = args
	}
	c.ID = madeID(c)
	return c, nil
}

// geminiReplace is the tool that edits a file. If there is none at the path, it looks in the whole
// workspace and edits the only file of that name.
const (
	geminiReplace = "replace"
	geminiPath    = "file_path"
)

// pinned returns the arguments of a call to geminiReplace with an absolute path in place of a
// relative one, so that Gemini CLI can edit only the file that was judged; nil if they stay.
func (m geminiMessage) pinned() (json.RawMessage, error) {
	if m.Tool != geminiReplace || m.MCP.Server != "" || !strings.HasPrefix(m.Folder, "/") {
		return nil, nil
	}
	args, err := ordered(m.Input)
	if err != nil {
		return nil, err // of a repeated name Gemini CLI would take the last
	}
	at := slices.IndexFunc(args, func(a member) bool { return a.name == geminiPath })
	if at < 0 {
		return nil, nil // the tool fails
	}
	var name string
	if err := json.Unmarshal(args[at].value, &name); err != nil {
		return nil, err
	}
	if name == "" || strings.HasPrefix(name, "/") {
		return nil, nil // the tool fails, or edits the file that it names
	}
	end := args[at].end
	out := slices.Concat(m.Input[:end-len(args[at].value)], json.RawMessage(object(path.Join(m.Folder, name))), m.Input[end:])
	if len(out) > maxRewritten {
		return nil, fmt.Errorf("an edit of %d bytes names its file by a relative path; name it by its absolute path", len(out))
	}
	return out, nil
}

// result returns what the model is shown, without what only the person is shown.
func (m geminiMessage) result() hook.Result {
	failed := len(m.Response.Error) > 0 && string(m.Response.Error) != "null"
	r := hook.Result{Text: texts(m.Response.Content), Error: failed}
	if failed {
		r.Text = strings.TrimPrefix(r.Text+"\n"+texts(m.Response.Error), "\n")
	}
	return r
}

// The answers of a hook.
type (
	geminiStop struct {
		Continue bool   `json:"continue"`
		Reason   string `json:"stopReason"`
	}
	geminiReplaced struct {
		Specific geminiInput `json:"hookSpecificOutput"`
	}
	geminiInput struct {
		Event string          `json:"hookEventName"`
		Input json.RawMessage `json:"tool_input"`
	}
)

// write prints nothing and exits with status 0 for an approval. Every other answer is explicit.
func (gemini) write(event string, a answer) hookframe.Response {
	ok := hookframe.Response{V: hookframe.Version}
	switch {
	case a.why == "" && event == geminiBeforeAgent && a.reply.Consumed:
		ok.Stdout = object(said{Decision: "deny", Reason: a.notice()})
	case a.why == "" && event == geminiBeforeTool && a.args != nil:
		ok.Stdout = object(geminiReplaced{geminiInput{Event: event, Input: a.args}})
	case a.why == "":
	case event == geminiBeforeTool, event == geminiAfterTool, event == geminiBeforeAgent:
		// After a tool this replaces the result; at a prompt the model is not called.
		ok.Stdout = object(said{Decision: "deny", Reason: a.reason()})
	case event == geminiAfterAgent:
		// Here a denial would make the agent continue, so it is stopped instead.
		ok.Stdout = object(geminiStop{Reason: a.reason()})
	default:
		ok.Stderr, ok.Exit = a.reason()+"\n", hookframe.Refused
	}
	return ok
}
