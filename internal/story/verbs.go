package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
)

// act plays one verb and returns the answer as stories write it.
//
//	agent NAME / session NAME        who speaks from here on
//	start [CAUSE] [by-person]        session_start; KEY=VALUE sets project, home
//	owner TEXT                       the owner, in a direct conversation
//	typed TEXT                       the same, and the door saw it typed
//	from JSON TEXT                   a message with this origin
//	assembled JSON                   context_assembled with these sources
//	iteration N                      loop_iteration_start
//	model TOOL… [| JSON]             before_llm_call offering tools, with messages
//	proposes ID TOOL JSON [& …]      after_llm_call
//	call [#ID] TOOL [JSON]           before_tool_call
//	returns TEXT / fails TEXT        after_tool_call of the last call
//	result [#ID] TOOL TEXT           after_tool_call of any call
//	reply TEXT / publish TEXT        before_response_emit to the owner / to others
//	spawn CHILD TEXT / ended CHILD TEXT
//	end                              session_end
//	approve / deny [TICKET] / endorse TEXT / withdraw TEXT   on a proved channel
//	auditor allow|block|silent [REASON]
//	wait DURATION / restart
//	hook JSON                        any event, as on the wire
func (w *world) act(verb, rest string) (string, error) {
	switch verb {
	case "agent":
		w.agent = rest
		return "", nil
	case "session":
		w.current = floodmark.SessionID(rest)
		return "", nil
	case "wait":
		d, err := time.ParseDuration(rest)
		w.now = w.now.Add(d)
		return "", err
	case "restart":
		return "", w.restart()
	case "auditor":
		return "", w.setAuditor(rest)
	case "approve", "deny", "endorse", "withdraw":
		return w.owner(verb, strings.ReplaceAll(rest, `\n`, "\n"))
	}
	switch verb {
	case "owner", "typed", "returns", "fails", "result", "reply", "publish", "spawn", "ended":
		rest = strings.ReplaceAll(rest, `\n`, "\n")
	}
	ev, err := w.read(verb, rest)
	if err != nil {
		return "", err
	}
	return w.event(ev)
}

// read turns a verb into the hook event it stands for.
func (w *world) read(verb, rest string) (hook.Event, error) {
	switch verb {
	case "start":
		return start(rest)
	case "owner", "typed", "from":
		return message(verb, rest)
	case "assembled":
		ev := hook.Event{Point: hook.ContextAssembled}
		return ev, unmarshal(rest, &ev.Sources)
	case "iteration":
		ev := hook.Event{Point: hook.LoopIterationStart}
		_, err := fmt.Sscan(rest, &ev.Iteration)
		return ev, err
	case "model":
		return model(rest)
	case "proposes":
		return proposes(rest)
	case "call", "returns", "fails", "result":
		return w.tool(verb, rest)
	case "reply":
		return hook.Event{Point: hook.BeforeResponseEmit, Text: rest, Audience: hook.ToOwner}, nil
	case "publish":
		return hook.Event{Point: hook.BeforeResponseEmit, Text: rest}, nil
	case "spawn", "ended":
		child, text, _ := strings.Cut(rest, " ")
		point := hook.SubagentSpawned
		if verb == "ended" {
			point = hook.SubagentEnded
		}
		return hook.Event{Point: point, Child: floodmark.SessionID(child), Text: text}, nil
	case "end":
		return hook.Event{Point: hook.SessionEnd}, nil
	case "hook":
		var ev hook.Event
		return ev, unmarshal(rest, &ev)
	}
	return hook.Event{}, fmt.Errorf("unknown verb %q", verb)
}

func start(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.SessionStart}
	for _, word := range strings.Fields(rest) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case word == "by-person":
			ev.ByPerson = true
		case ok && key == "project":
			ev.Project = value
		case ok && key == "home":
			ev.Home = value
		case !ok:
			ev.Cause = hook.Cause(word)
		default:
			return ev, fmt.Errorf("%w: start [CAUSE] [by-person] [project=DIR] [home=DIR]", errUsage)
		}
	}
	return ev, nil
}

func message(verb, rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.MessageReceived, Text: rest, Typed: verb == "typed"}
	ev.Origin = floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}
	if verb != "from" {
		return ev, nil
	}
	dec := json.NewDecoder(strings.NewReader(rest))
	dec.DisallowUnknownFields()
	ev.Origin = floodmark.Origin{}
	if err := dec.Decode(&ev.Origin); err != nil {
		return ev, fmt.Errorf("%w: from {\"kind\":\"sender\",…} TEXT: %w", errUsage, err)
	}
	ev.Text = strings.TrimSpace(rest[dec.InputOffset():])
	return ev, nil
}

func model(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.BeforeLLMCall}
	tools, messages, _ := strings.Cut(rest, "|")
	for _, name := range strings.Fields(tools) {
		server, tool := splitTool(name)
		ev.Tools = append(ev.Tools, hook.Tool{Server: server, Name: tool})
	}
	if strings.TrimSpace(messages) == "" {
		return ev, nil
	}
	return ev, unmarshal(messages, &ev.Messages)
}

func proposes(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.AfterLLMCall}
	for _, part := range strings.Split(rest, " & ") {
		f := strings.SplitN(strings.TrimSpace(part), " ", 3)
		if len(f) < 2 {
			return ev, fmt.Errorf("%w: proposes ID TOOL [JSON] & …", errUsage)
		}
		c := hook.Call{ID: floodmark.CallID(f[0])}
		c.Server, c.Name = splitTool(f[1])
		if len(f) == 3 {
			c.Args = json.RawMessage(f[2])
		}
		ev.Calls = append(ev.Calls, c)
	}
	return ev, nil
}

// tool reads a call or its result.
func (w *world) tool(verb, rest string) (hook.Event, error) {
	s := w.session()
	ev := hook.Event{Point: hook.AfterToolCall, Call: s.call}
	switch verb {
	case "returns", "fails":
		ev.Result = hook.Result{Text: rest, Error: verb == "fails"}
		return ev, nil
	}
	var c hook.Call
	if strings.HasPrefix(rest, "#") {
		id, more, _ := strings.Cut(rest[1:], " ")
		c.ID, rest = floodmark.CallID(id), more
	}
	name, more, _ := strings.Cut(strings.TrimSpace(rest), " ")
	c.Server, c.Name = splitTool(name)
	if verb == "result" {
		ev.Call, ev.Result = c, hook.Result{Text: more}
		return ev, nil
	}
	if more = strings.TrimSpace(more); more != "" {
		c.Args = json.RawMessage(more)
	}
	s.call = c
	return hook.Event{Point: hook.BeforeToolCall, Call: c}, nil
}

func (w *world) owner(verb, rest string) (string, error) {
	cmd := approval.Command{Tool: approval.All, Ticket: w.ticket, Calls: w.calls}
	switch verb {
	case "approve":
		cmd.Verb = approval.Approve
	case "deny":
		cmd.Verb = approval.Deny
	case "endorse":
		cmd = approval.Command{Verb: approval.Endorse, Digest: floodmark.DigestOf(rest).String()}
	case "withdraw":
		cmd = approval.Command{Verb: approval.Withdraw, Digest: floodmark.DigestOf(rest).String()}
	}
	if rest != "" && cmd.Digest == "" {
		cmd.Ticket = floodmark.TicketID(rest)
	}
	return w.command(cmd)
}

func (w *world) setAuditor(rest string) error {
	word, reason, _ := strings.Cut(rest, " ")
	switch word {
	case "allow":
		w.opinion = &audit.Opinion{Agrees: true}
	case "block":
		w.opinion = &audit.Opinion{Reason: reason}
	case "silent":
		w.opinion = nil
	default:
		return fmt.Errorf("%w: auditor allow | block REASON | silent", errUsage)
	}
	return nil
}

// splitTool parts «server/tool»; a name without a slash is a built-in tool.
func splitTool(name string) (server, tool string) {
	if server, tool, ok := strings.Cut(name, "/"); ok {
		return server, tool
	}
	return "", name
}

func unmarshal(text string, into any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// cutArrow parts a line at the last « -> ».
func cutArrow(line string) (said, want string, asked bool) {
	i := strings.LastIndex(line, " -> ")
	if i < 0 {
		return line, "", false
	}
	return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+4:]), true
}
