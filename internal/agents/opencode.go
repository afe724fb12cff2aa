package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const opencodeName = "opencode"

// The plugin hooks and events of opencode 1.18 that our shim forwards.
const (
	opencodeMessage = "chat.message"
	opencodeBefore  = "tool.execute.before"
	opencodeAfter   = "tool.execute.after"
	opencodeShell   = "shell.env"
	opencodeIdle    = "session.idle"
	opencodeDeleted = "session.deleted"
)

// opencodeTask is the tool that begins or continues a sub-agent.
const opencodeTask = "task"

// opencode is the dialect of the shim in integrations/opencode, which forwards what opencode
// reports to its plugins and carries out the answer.
type opencode struct{}

// opencodeSays is what the shim sends.
type opencodeSays struct {
	Session opencodeSession `json:"session"`
	// Servers are the names of the tool servers in opencode's configuration.
	Servers []string `json:"servers"`
	// Target is the session that a task would continue.
	Target opencodeSession `json:"target"`
	// Command is what the person typed after the name of a command. The template of the command is
	// one of the parts.
	Command string         `json:"command"`
	Parts   []opencodePart `json:"parts"`

	Tool   string          `json:"tool"`
	CallID string          `json:"callID"`
	Args   json.RawMessage `json:"args"`
	// Output is a tool's result: a text, or the content of a server's tool.
	Output json.RawMessage `json:"output"`
	Error  bool            `json:"error"`
	// Child is the sub-agent whose result this is.
	Child string `json:"child"`
}

type opencodeSession struct {
	ID     string `json:"id"`
	Parent string `json:"parentID"`
	Folder string `json:"directory"`
	// Start says whether the session is new or continued. It is sent only once in a process.
	Start hook.Cause `json:"start"`
}

// An opencodePart is one part of a message to the model. A synthetic part was written by opencode,
// with content that it fetched. A template is the text of a command.
type opencodePart struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Synthetic bool             `json:"synthetic"`
	Template  bool             `json:"template"`
	File      string           `json:"url"`    // of a file: URL
	Digest    floodmark.Digest `json:"sha256"` // of anything else that is no text
}

func (opencode) read(req hookframe.Request) (asked, error) {
	var m opencodeSays
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	ev := hook.Event{Agent: opencodeName}
	var err error
	if ev.Session, err = sessionOf(opencodeName, m.Session.ID); err != nil {
		return asked{}, err
	}
	about := asked{event: ev}
	switch req.Event {
	case opencodeMessage:
		return m.message(ev, req.Env["HOME"])
	case opencodeBefore:
		about.event.Point = hook.BeforeToolCall
		about.event.Call, err = m.call()
		if err == nil {
			err = m.goesOn()
		}
	case opencodeAfter:
		about.event.Point, about.event.Result = hook.AfterToolCall, hook.Result{Text: texts(m.Output), Error: m.Error}
		about.event.Call, err = m.call()
		if m.Tool == opencodeTask && m.Child != "" && err == nil {
			// The sub-agent's sources are reported before its result.
			first := ev
			first.Point = hook.SubagentEnded
			first.Child, err = sessionOf(opencodeName, m.Child)
			about.first = []hook.Event{first}
		}
	case opencodeShell:
		// The owner ran a command. Its output is in the context, although no event reported a call.
		about.event.Point = hook.ContextAssembled
		about.event.Sources = []hook.Content{{Kind: floodmark.NodeToolResult, Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "bash"}}}
	case opencodeIdle:
		about.event.Point, about.event.Audience = hook.BeforeResponseEmit, hook.ToOwner
	case opencodeDeleted:
		about.event.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of opencode is not known", floodmark.OneLine(req.Event, hookframe.MaxName))
	}
	return about, err
}

// message returns the events of a prompt. In a sub-agent's session a model wrote it, otherwise the
// owner.
func (m opencodeSays) message(ev hook.Event, home string) (asked, error) {
	if m.Session.Parent != "" {
		return m.prompted(ev)
	}
	about := asked{}
	switch m.Session.Start {
	case "": // reported before
	case hook.Startup, hook.Resume:
		start := ev
		start.Point, start.Cause, start.Project, start.Home = hook.SessionStart, m.Session.Start, m.Session.Folder, home
		about.first = []hook.Event{start}
	default:
		return asked{}, fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(string(m.Session.Start), hookframe.MaxName))
	}
	ev.Point = hook.MessageReceived
	var typed bool
	if ev.Text, ev.Parts, typed = m.said(); typed {
		ev.Origin = theOwner(opencodeName)
	} else {
		ev.Origin = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt that nobody typed"}
	}
	about.event = ev
	return about, nil
}

// prompted returns the events of a prompt to a sub-agent, which a model wrote. The first prompt
// begins the sub-agent's session, with everything its parent has read so far. A later prompt may
// come from newer sources, so it is not trusted.
func (m opencodeSays) prompted(ev hook.Event) (asked, error) {
	parent, err := sessionOf(opencodeName, m.Session.Parent)
	if err != nil {
		return asked{}, err
	}
	text := m.text()
	later := ev
	later.Point, later.Text = hook.MessageReceived, text
	later.Origin = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt of another agent"}
	if m.Session.Start == hook.Resume {
		return asked{event: later}, nil // its past may be unknown
	}
	return asked{
		event:     hook.Event{Agent: opencodeName, Point: hook.SubagentSpawned, Session: parent, Child: ev.Session, Text: text},
		otherwise: &later,
	}, nil
}

// text returns all text of a message.
func (m opencodeSays) text() string {
	var list []string
	for _, p := range m.Parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// said separates what the person typed from the other parts of a message. typed is false if no
// person typed any of it.
func (m opencodeSays) said() (text string, parts []hook.Content, typed bool) {
	var words []string
	for i, p := range m.Parts {
		switch {
		case p.Template:
			typed = true
			parts = append(parts, p.content(floodmark.Origin{Kind: floodmark.FromFile, Name: "command"}))
		case p.Type == "text" && !p.Synthetic:
			typed = true
			words = append(words, asTyped(p.Text))
		case p.Type == "text" && m.isNotice(i):
		case p.Type == "text":
			parts = append(parts, p.content(floodmark.Origin{Kind: floodmark.FromFile, Name: "attachment", Place: m.place(i + 1)}))
		case p.File != "" || p.Type == "agent":
			typed = true // its content is in the part before it
		default:
			typed = typed || p.Type == "file"
			parts = append(parts, p.content(floodmark.Origin{Kind: floodmark.FromPaste, Name: floodmark.OneLine(p.Type, hookframe.MaxName)}))
		}
	}
	if m.Command != "" {
		words = append(words, m.Command)
	}
	return strings.Join(words, "\n"), parts, typed
}

// asTyped removes the quotes that «opencode run» puts around a prompt with a space in it. They were
// not typed, and a quoted text would be taken for one value.
func asTyped(text string) string {
	inner, ok := strings.CutPrefix(text, `"`)
	inner, end := strings.CutSuffix(inner, `"`)
	if plain := strings.ReplaceAll(inner, `\"`, ""); ok && end && strings.Contains(inner, " ") && !strings.Contains(plain, `"`) && !strings.HasSuffix(inner, `\`) {
		return strings.ReplaceAll(inner, `\"`, `"`)
	}
	return text
}

func (p opencodePart) content(o floodmark.Origin) hook.Content {
	return hook.Content{Kind: floodmark.NodeInput, Origin: o, Text: p.Text, Digest: p.Digest}
}

// isNotice reports whether synthetic part i only says what opencode did. Such a part is two parts
// before a file that opencode read, or after the name of a sub-agent.
func (m opencodeSays) isNotice(i int) bool {
	return m.place(i+2) != "" && m.Parts[i+1].Synthetic || i > 0 && m.Parts[i-1].Type == "agent"
}

// place returns the path of a file that was read for this message, if part i names one. opencode
// puts the name right after the content.
func (m opencodeSays) place(i int) string {
	if i >= len(m.Parts) || m.Parts[i].Type != "file" {
		return ""
	}
	u, err := url.Parse(m.Parts[i].File)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return ""
	}
	return u.Path
}

// goesOn refuses a task that continues a session which this one did not begin, because the task's
// prompt would be taken for words of that session's person.
func (m opencodeSays) goesOn() error {
	if m.Tool != opencodeTask {
		return nil
	}
	args, err := members(m.Args)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	on := []string{m.Target.ID}
	for _, name := range []string{"task_id", "session_id"} {
		id, err := args.text(name)
		if err != nil {
			return fmt.Errorf("read the task: %w", err)
		}
		on = append(on, id)
	}
	for _, id := range on {
		if id != "" && (m.Target.ID != id || m.Target.Parent != m.Session.ID) {
			return errors.New("the task would go on in a session that is no sub-agent of this one; begin a new task")
		}
	}
	return nil
}

func (m opencodeSays) call() (hook.Call, error) {
	if m.Tool == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	c := hook.Call{ID: floodmark.CallID(m.CallID), Args: m.Args}
	c.Server, c.Name = opencodeTool(m.Tool, m.Servers)
	return c, nil
}

// opencodeTool splits the name of a server's tool, server_tool, in which opencode replaced
// everything but letters, digits, _ and - by an underscore. If the name fits several servers, the
// tool belongs to no known server.
func opencodeTool(name string, servers []string) (server, tool string) {
	var meant []string
	for _, s := range servers {
		if rest, ok := strings.CutPrefix(name, strings.Map(opencodeRune, s)+"_"); ok && rest != "" {
			meant, tool = append(meant, s), rest
		}
	}
	switch len(meant) {
	case 0:
		return "", name
	case 1:
		return meant[0], tool
	}
	slices.Sort(meant)
	return strings.Join(meant, " or "), name
}

func opencodeRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}

func (opencode) write(event string, a answer) hookframe.Response {
	switch event {
	case opencodeBefore:
		return tells(a.call())
	case opencodeMessage:
		return tells(a.said())
	case opencodeAfter:
		return a.shown()
	}
	return a.kept()
}
