package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const openclawName = "openclaw"

// The plugin hooks of OpenClaw 2026.9 that our shim forwards. tool_result is OpenClaw's middleware
// for results. approval_ended is our own word for the end of a question that OpenClaw asked.
const (
	openclawPrompt    = "before_prompt_build"
	openclawRun       = "before_agent_run"
	openclawCall      = "before_tool_call"
	openclawResult    = "tool_result"
	openclawChildEnd  = "subagent_ended"
	openclawCompacted = "after_compaction"
	openclawAnswer    = "approval_ended"
	openclawReply     = "reply_payload_sending"
	openclawRunEnd    = "agent_end"
	openclawEnd       = "session_end"
)

// openclaw is the dialect of the shim in integrations/openclaw, which forwards OpenClaw's events
// and carries out the answer.
type openclaw struct{}

// openclawSays is what the shim sends.
type openclawSays struct {
	openclawSession
	openclawSender

	// AgentID is the running agent. It may be empty if the session names it.
	AgentID string `json:"agentId"`
	Folder  string `json:"workspaceDir"`
	// Parent is the session that began this one. Child is the session that ended.
	Parent openclawSession `json:"parent"`
	Child  openclawSession `json:"child"`
	// Past says that the session has a history; nil counts as true.
	Past *bool `json:"past"`
	// Previous is the id this session had before its history was summarised.
	Previous string `json:"previous"`

	// Prompt is the model's prompt. Said are the received messages. Quotes are other people's words
	// that are quoted in them.
	Prompt string          `json:"prompt"`
	Said   []string        `json:"said"`
	Quotes []openclawQuote `json:"quotes"`
	// Added is text that OpenClaw prepended.
	Added []string `json:"added"`

	Tools  []string        `json:"tools"`
	Tool   string          `json:"toolName"`
	Kind   string          `json:"toolKind"`
	CallID string          `json:"toolCallId"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Error  bool            `json:"isError"`
	// Caution lists the tools whose authors want their results to be treated with caution.
	Caution []string `json:"caution"`
	// Decision is how a question ended.
	Decision string `json:"decision"`
	// Inner are the ids of recent calls that were made inside other calls.
	Inner []string `json:"inner"`
	openclawAnswers

	// Place is the conversation in which a call's run takes place. Requester is the author of the
	// message that began the run.
	Place     string            `json:"channelId"`
	Requester openclawRequester `json:"requester"`
}

type openclawRequester struct {
	Channel string `json:"channel"`
	ID      string `json:"senderId"`
	Owner   bool   `json:"senderIsOwner"`
}

type openclawQuote struct {
	Text   string `json:"text"`
	Sender string `json:"sender"`
}

// An openclawSession is one conversation. Key is the place where it is held. ID identifies it,
// because after a reset another conversation begins at the same place.
type openclawSession struct {
	Key string `json:"sessionKey"`
	ID  string `json:"sessionId"`
}

func (s openclawSession) name() (floodmark.SessionID, error) {
	if s.Key == "" || s.ID == "" {
		return "", errors.New("the message names no session")
	}
	return sessionOf(openclawName, s.Key+"#"+s.ID)
}

func (openclaw) read(req hookframe.Request) (asked, error) {
	var m openclawSays
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	about, err := m.read(req)
	about.openclaw = m
	return about, err
}

func (m openclawSays) read(req hookframe.Request) (asked, error) {
	var ev hook.Event
	var err error
	if ev.Agent, err = m.agent(); err != nil {
		return asked{}, err
	}
	if ev.Session, err = m.name(); err != nil {
		return asked{}, err
	}
	switch req.Event {
	case openclawPrompt:
		ev.Point, ev.Tools = hook.BeforeLLMCall, m.offered()
	case openclawRun:
		return m.message(ev, req.Env["HOME"])
	case openclawCall:
		ev.Point = hook.BeforeToolCall
		if ev.Call, err = m.call(); err == nil && m.Tool == openclawWrapper {
			err = errNothing // the inner call follows as its own event
		}
	case openclawResult:
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: m.text(), Error: m.Error}
		ev.Call, err = m.call()
	case openclawAnswer:
		ev.Point = hook.AfterToolCall
		ev.Call, err = m.call()
	case openclawChildEnd:
		ev.Point = hook.SubagentEnded
		ev.Child, err = m.Child.name()
	case openclawCompacted:
		return m.compacted(ev)
	case openclawReply:
		ev.Point, ev.Audience, ev.Text, ev.More = hook.BeforeResponseEmit, m.audience(), m.whole(), m.More
	case openclawRunEnd:
		// The answer to the author is reported by another event. A session that ends here and
		// continues later is the same session.
		ev.Point = hook.SessionEnd
	case openclawEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of OpenClaw is not known", floodmark.OneLine(req.Event, hookframe.MaxName))
	}
	return asked{event: ev, window: m.asks(), ended: m.ended(req.Event)}, err
}

// asks reports whether the owner wrote the message of this run, alone with the agent. Only then
// OpenClaw's question reaches the owner alone; elsewhere other people may see it, or no person at
// all. OpenClaw accepts answers only from owners.
func (m openclawSays) asks() bool {
	r := m.Requester
	return r.Owner && r.Channel != "" && r.ID != "" && m.Place == r.Channel+":"+r.ID && !m.isChild()
}

// ended returns how a question in the chat ended. It does not prove an approval, because any
// program that can write to the socket could send it; the result of the call proves it.
func (m openclawSays) ended(event string) windowEnd {
	switch {
	case event != openclawAnswer:
		return windowOpen
	case m.Decision == "allow-once":
		return windowAgreed
	case m.Decision == "deny":
		return windowDenied
	}
	return windowUnanswered // timed out, or no chat to ask in
}

// compacted returns the beginning of a session that continues another one under a new id, with a
// summary of the old history.
func (m openclawSays) compacted(ev hook.Event) (asked, error) {
	old, err := openclawSession{Key: m.Key, ID: m.Previous}.name()
	if err != nil {
		return asked{}, err
	}
	return asked{event: hook.Event{Agent: ev.Agent, Point: hook.SubagentSpawned, Session: old, Child: ev.Session}}, nil
}

// message returns the events of a message from a chat. The session may begin with it.
func (m openclawSays) message(ev hook.Event, home string) (asked, error) {
	if m.isChild() {
		return m.prompted(ev)
	}
	start := ev
	start.Point, start.Cause, start.Project, start.Home = hook.SessionStart, hook.Resume, m.Folder, home
	if m.Past != nil && !*m.Past {
		start.Cause = hook.Startup
	}
	about := asked{first: []hook.Event{start}}
	if m.Provenance.Kind == openclawOther {
		return m.reported(ev, about)
	}
	ev.Point, ev.Origin = hook.MessageReceived, m.origin()
	ev.Text, ev.Parts = m.Prompt, m.quoted()
	if m.Channel != "" && !slices.Contains(m.Said, m.Prompt) && ev.Origin.Kind == floodmark.FromSender {
		// The prompt has more than was sent: files, transcripts, messages of others in between.
		ev.Text = strings.Join(m.Said, "\n")
		ev.Parts = append(ev.Parts, hook.Content{
			Kind: floodmark.NodeInput, Text: m.Prompt,
			Origin: floodmark.Origin{Kind: floodmark.FromPaste, Name: "prompt"},
		})
	}
	about.event = ev
	return about, nil
}

// quoted returns other people's words that came with a message: quotes, and news from other
// sessions, whose sources are unknown.
func (m openclawSays) quoted() (parts []hook.Content) {
	for _, text := range m.Added {
		if strings.Contains(text, "System: ") {
			parts = append(parts, hook.Content{
				Kind: floodmark.NodeInput, Text: text,
				Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "news of other sessions"},
			})
		}
	}
	for _, q := range m.Quotes {
		parts = append(parts, hook.Content{
			Kind: floodmark.NodeInput, Text: q.Text,
			Origin: floodmark.Origin{Kind: floodmark.FromQuote, Name: m.Channel, Sender: floodmark.OneLine(q.Sender, hookframe.MaxName), Group: m.group()},
		})
	}
	return parts
}

// isChild reports whether the session is a sub-agent's, by OpenClaw's key or the shim's report of a
// parent.
func (m openclawSays) isChild() bool {
	return m.Parent.Key != "" || strings.Contains(m.Key, ":subagent:")
}

// prompted returns the events of a prompt to a sub-agent, which a model wrote. The first prompt
// begins the sub-agent's session, with everything its parent has read so far. If the parent is
// unknown, or the session exists already, the prompt is not trusted.
func (m openclawSays) prompted(ev hook.Event) (asked, error) {
	later := ev
	later.Point, later.Text = hook.MessageReceived, m.Prompt
	later.Origin = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "a prompt of another agent"}
	parent, err := m.Parent.name()
	if err != nil || m.Past == nil || *m.Past {
		return asked{event: later}, nil //nolint:nilerr // an error means that the parent is unknown
	}
	return asked{
		event:     hook.Event{Agent: cmp.Or(m.Parent.agent(), ev.Agent), Point: hook.SubagentSpawned, Session: parent, Child: ev.Session, Text: m.Prompt},
		otherwise: &later,
	}, nil
}

// reported returns the events of a message from another session: the result of a sub-agent, or else
// something untrusted.
func (m openclawSays) reported(ev hook.Event, about asked) (asked, error) {
	child, err := m.Provenance.Source.name()
	if err != nil {
		child, err = sessionOf(openclawName, cmp.Or(m.Provenance.Source.Key, "unknown"))
	}
	ended := ev
	ended.Point, ended.Child, ended.Text = hook.SubagentEnded, child, m.Prompt
	ev.Point = hook.ContextAssembled
	about.first, about.event = append(about.first, ended), ev
	return about, err
}

// offered returns the tools of a turn, without those that only find or call other tools.
func (m openclawSays) offered() (tools []hook.Tool) {
	for _, name := range m.Tools {
		if name == openclawWrapper || strings.HasPrefix(name, "tool_search") || name == "tool_describe" {
			continue
		}
		server, tool := openclawTool(name)
		tools = append(tools, hook.Tool{Server: server, Name: tool})
	}
	return tools
}

// openclawWrapper is a tool that calls another tool. OpenClaw hides most tools behind it if there
// are many.
const openclawWrapper = "tool_call"

// call returns the call, also if it was made through the wrapper. Before such a call OpenClaw
// reports both the wrapper and the inner call, whose id is derived from the wrapper's; afterwards
// it reports only the wrapper. So call returns the inner call under its own id. Under another id,
// the result would belong to a call that was not decided, which is an incident.
func (m openclawSays) call() (hook.Call, error) {
	name, args, id := m.Tool, m.Args, m.CallID
	if name == openclawWrapper {
		var err error
		if name, args, err = unwrapped(m.Args); err != nil {
			return hook.Call{}, err
		}
		id = m.inside(name)
	}
	said := name
	if m.Kind != "" {
		name = m.Kind // the tool only has the same name as a known one
	}
	if name == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	c := hook.Call{ID: floodmark.CallID(id), Args: args}
	if slices.Contains(m.Caution, said) {
		c.Hints = &hook.Hints{Trust: floodmark.Untrusted.String()}
	}
	c.Server, c.Name = openclawTool(name)
	return c, nil
}

// inside returns the id of the call inside this one. OpenClaw builds it from a word of its own, the
// outer id, the tool, and the number of the inner call within the run. The shim reports the ids of
// recent inner calls; without one, it is the first.
func (m openclawSays) inside(tool string) string {
	outer := regexp.MustCompile(`[^A-Za-z0-9_.:-]+`).ReplaceAllString(strings.TrimSpace(m.CallID), "_")
	begin := "tool_search_code:" + outer[:min(len(outer), 120)] + ":" + tool + ":"
	for _, id := range slices.Backward(m.Inner) {
		if n, is := strings.CutPrefix(id, begin); is && n != "" && strings.Trim(n, "0123456789") == "" {
			return id
		}
	}
	return begin + "1"
}

// unwrapped returns the name and the arguments of the tool that the wrapper calls. A model may have
// written the arguments beside the name. A form that OpenClaw could read as another tool or other
// arguments is refused, because its result would be attributed to the wrong call.
func unwrapped(raw json.RawMessage) (name string, args json.RawMessage, err error) {
	outer, err := members(raw)
	if err != nil {
		return "", nil, fmt.Errorf("read the call inside %s: %w", openclawWrapper, err)
	}
	name, err = outer.text("id")
	// A name like «openclaw:core:exec» ends with the tool's.
	name = name[strings.LastIndex(name, ":")+1:]
	if err != nil || name == "" || name != strings.TrimSpace(name) || name == openclawWrapper {
		return "", nil, fmt.Errorf("%s does not say which tool to call", openclawWrapper)
	}
	delete(outer, "id")
	args, nested := outer["args"]
	if nested && len(outer) == 1 {
		return name, args, nil
	}
	for other := range outer {
		if slices.Contains([]string{"args", "input", "name", "toolId"}, other) || strings.HasPrefix(other, "args.") {
			return "", nil, fmt.Errorf("%s takes the tool's name in «id» and all its arguments in «args», and nothing else", openclawWrapper)
		}
	}
	args, err = json.Marshal(outer)
	return name, args, err
}

// openclawTool splits the name of a server's tool, server__tool.
func openclawTool(name string) (server, tool string) {
	if server, tool, ok := strings.Cut(name, "__"); ok && server != "" && tool != "" {
		return server, tool
	}
	return "", name
}

// text returns a tool's result. The wrapper returns the result of its tool as JSON inside a text.
func (m openclawSays) text() string {
	text := texts(m.Result)
	if m.Tool != openclawWrapper {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Result, &parts); err != nil {
		return text
	}
	for i, p := range parts {
		if inner := json.RawMessage(p.Text); json.Valid(inner) {
			parts[i].Text = texts(inner)
		}
	}
	// Keep the result in both forms, so that values of either are found.
	for _, p := range parts {
		text += "\n" + p.Text
	}
	return text
}

// openclawTools lists the tools to hide from a turn.
type openclawTools struct {
	Hidden []string `json:"hidden"`
}

// openclawAsks answers a call about which OpenClaw is to ask the owner. A shim that does not
// support that blocks the call.
type openclawAsks struct {
	shimCall

	Ask openclawQuestion `json:"ask"`
}

type openclawQuestion struct {
	Title string `json:"title"`
	Text  string `json:"description"`
}

// How many characters OpenClaw shows of a question. It refuses longer ones.
const (
	openclawTitle = 80
	openclawText  = 512
)

func (a answer) asking() any {
	if !a.ask {
		return openclawCalls{a.call(), a.because()}
	}
	return openclawAsks{a.call(), openclawQuestion{
		Title: floodmark.OneLine("floodmark: may "+a.about.event.Call.Name+" run?", openclawTitle), Text: a.question(openclawText),
	}}
}

func (openclaw) write(event string, a answer) hookframe.Response {
	switch event {
	case openclawCall:
		return tells(a.asking())
	case openclawRun:
		return tells(a.heard())
	case openclawReply:
		return tells(a.sent())
	case openclawResult:
		return a.shown()
	case openclawPrompt:
		if a.why != "" {
			return a.kept() // no tools at all
		}
		hidden := openclawTools{Hidden: []string{}}
		for _, name := range a.reply.Decision.Hidden {
			hidden.Hidden = append(hidden.Hidden, strings.Replace(name, "/", "__", 1))
		}
		return tells(hidden)
	}
	return a.kept()
}
