package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// act plays one verb and returns the answer as stories write it.
//
//	agent NAME [boxes] / session NAME   who speaks from here on
//	start [CAUSE] [by-person]        session_start; KEY=VALUE sets project, home
//	owner TEXT                       the owner, in a direct conversation
//	typed TEXT                       the same, and the door saw it typed
//	from JSON TEXT                   a message with this origin
//	assembled JSON                   context_assembled with these sources
//	iteration N                      loop_iteration_start
//	model TOOL… [| JSON]             before_llm_call offering tools, with messages
//	proposes ID TOOL [JSON] [& …]    after_llm_call
//	call [#ID] TOOL [JSON]           before_tool_call; !TEXT instead of JSON is
//	                                 passed on as it stands
//	returns TEXT / fails TEXT / fails-in-box [HOST…]   after_tool_call of the last call
//	result [#ID] TOOL TEXT           after_tool_call of any call
//	reply TEXT / publish TEXT        before_response_emit to the owner / to others
//	spawn CHILD TEXT / ended CHILD TEXT
//	end                              session_end
//	approve / deny [TICKET] / endorse TEXT / withdraw TEXT   on a proved channel
//	endorse --diff PATH                                      for a file as it was shown
//	auditor allow|block|unsure|silent [REASON]
//	verifier NAME allow|deny|fails [REASON]                  what a gate answers
//	checkout DIR own | checkout DIR REMOTE COMMIT            what git says of a folder
//	file PATH TEXT                                           what is in a file; there are no others
//	gone PATH [cleaned]                                      deleted by hand, or by «floodmark undo clean»
//	pushes TEXT | pushes unseen WHY | pushes otherwise WHY   what a push would send from here on
//	changed PATH… [… if that may not be all]                 what the next result finds changed
//	pause DURATION [SESSION] / resume [SESSION]              what the owner wants
//	wait DURATION / restart
//	hook JSON                        any event, as on the wire
func (w *world) act(verb, rest string) (string, error) {
	switch verb {
	case "agent", "session", "wait", "restart", "auditor", "verifier", "pause", "observe", "resume", "pushes":
		return "", w.around(verb, rest)
	case "gone":
		if path, ok := strings.CutSuffix(rest, " cleaned"); ok {
			return "", w.cleaned(path)
		}
		return "", w.store.disk(verb, rest)
	case "checkout", "changed", "file":
		return "", w.store.disk(verb, rest)
	case "approve", "deny", "endorse", "withdraw":
		return w.owner(verb, rest)
	}
	ev, err := w.read(verb, rest)
	if err != nil {
		return "", err
	}
	return w.event(ev)
}

// around plays a verb that changes the world around the monitor.
func (w *world) around(verb, rest string) error {
	name, boxes := strings.CutSuffix(rest, " boxes")
	switch {
	case verb == "agent" && len(strings.Fields(name)) != 1, verb == "session" && len(strings.Fields(rest)) != 1, verb == "restart" && rest != "":
		return misused(verb, errUsage)
	case verb == "agent":
		rest = strings.TrimSpace(name)
		if agents := w.agents(); !slices.Contains(agents, floodmark.Program(rest)) {
			return fmt.Errorf("%w; describe the tools of another one in a part «-- catalog --»", unknown("agent the catalog knows", rest, agents))
		}
		w.agent, w.boxes = rest, boxes
	case verb == "session":
		w.current = floodmark.SessionID(rest)
	case verb == "wait":
		d, err := time.ParseDuration(rest)
		if err == nil && d <= 0 {
			err = errors.New("time only goes forward")
		}
		if err != nil {
			return misused(verb, err)
		}
		w.now = w.now.Add(d)
	case verb == "pushes":
		w.push = pushOf(rest)
	case verb == "restart":
		return w.restart()
	case verb == "verifier":
		return w.setVerifier(rest)
	case verb == "pause" || verb == "observe" || verb == "resume":
		return w.pause(verb, strings.Fields(rest))
	default:
		return w.setAuditor(rest)
	}
	return nil
}

// pushOf returns what a push would send from here on.
func pushOf(text string) *hook.Push {
	if why, is := strings.CutPrefix(text, "unseen "); is {
		return &hook.Push{Unseen: why}
	}
	if why, is := strings.CutPrefix(text, "otherwise "); is {
		return &hook.Push{Refuse: why}
	}
	p := &hook.Push{Digest: floodmark.DigestOf(text), Head: []string{text}}
	if strings.HasPrefix(text, "+ ") || strings.HasPrefix(text, "- ") {
		p.Body = []string{"  " + text}
	}
	return p
}

// agents returns the agents whose tools the story's catalog knows.
func (w *world) agents() []string {
	known := map[string]bool{}
	for _, p := range w.rules.Catalog.Profiles() {
		for _, name := range p.Agents() {
			known[name] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// lines replaces \n in a text by a line break, and \\n by the two characters \n.
func lines(text string) string {
	return strings.NewReplacer(`\\n`, `\n`, `\n`, "\n").Replace(text)
}

// read returns the hook event for a verb.
func (w *world) read(verb, rest string) (hook.Event, error) {
	switch verb {
	case "start":
		return start(rest)
	case "owner", "typed", "from":
		return message(verb, rest)
	case "assembled":
		ev := hook.Event{Point: hook.ContextAssembled}
		err := unmarshal(verb, rest, &ev.Sources)
		return ev, err
	case "iteration":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return hook.Event{}, misused(verb, fmt.Errorf("%q is no number of a round", shorten(rest, maxQuoted)))
		}
		return hook.Event{Point: hook.LoopIterationStart, Iteration: n}, nil
	case "model":
		return model(rest)
	case "proposes":
		return proposes(rest)
	case "call", "returns", "fails", "fails-in-box", "result":
		return w.tool(verb, rest)
	case "reply", "publish":
		ev := hook.Event{Point: hook.BeforeResponseEmit, Text: lines(rest)}
		if verb == "reply" {
			ev.Audience = hook.ToOwner
		}
		return ev, needs(verb, rest)
	case "spawn", "ended":
		child, text, _ := strings.Cut(rest, " ")
		point := hook.SubagentSpawned
		if verb == "ended" {
			point = hook.SubagentEnded
		}
		return hook.Event{Point: point, Child: floodmark.SessionID(child), Text: lines(text)}, needs(verb, child)
	case "end":
		if rest != "" {
			return hook.Event{}, misused(verb, errUsage)
		}
		return hook.Event{Point: hook.SessionEnd}, nil
	case "hook":
		var ev hook.Event
		err := unmarshal(verb, rest, &ev)
		return ev, err
	}
	return hook.Event{}, unknownVerb(verb)
}

// needs returns an error if a verb has no text.
func needs(verb, text string) error {
	if text == "" {
		return misused(verb, fmt.Errorf("behind «%s» something is missing", verb))
	}
	return nil
}

func start(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.SessionStart}
	for _, word := range strings.Fields(rest) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case word == "by-person":
			ev.ByPerson = true
		case value != "" && key == "project":
			ev.Project = value
		case value != "" && key == "home":
			ev.Home = value
		case ok || ev.Cause != "":
			return ev, misused("start", errUsage)
		case !slices.Contains(causes(), word):
			return ev, misused("start", unknown("cause", word, append(causes(), "by-person")))
		default:
			ev.Cause = hook.Cause(word)
		}
	}
	return ev, nil
}

func causes() []string {
	return []string{string(hook.Startup), string(hook.Resume), string(hook.Clear), string(hook.Compact)}
}

func message(verb, rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.MessageReceived, Text: lines(rest), Typed: verb == "typed"}
	ev.Origin = floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}
	if verb != "from" {
		return ev, needs(verb, rest)
	}
	ev.Origin = floodmark.Origin{}
	text, err := decode(verb, rest, &ev.Origin)
	ev.Text = lines(text)
	if kind := string(ev.Origin.Kind); err == nil && kind != "" && !slices.Contains(originKinds(), kind) {
		err = misused(verb, unknown("kind of origin", kind, originKinds()))
	}
	if err == nil {
		err = needs(verb, text)
	}
	return ev, err
}

// originKinds lists the known kinds of origins. The monitor accepts any word as a kind and does not
// trust unknown ones; a story can send one with «hook».
func originKinds() []string {
	var list []string
	for _, k := range []floodmark.OriginKind{
		floodmark.FromSystem, floodmark.FromSender, floodmark.FromTool, floodmark.FromModel, floodmark.FromParent,
		floodmark.FromChild, floodmark.FromHistory, floodmark.FromFile, floodmark.FromDefinition, floodmark.FromPaste,
		floodmark.FromQuote, floodmark.FromUnknown,
	} {
		list = append(list, string(k))
	}
	return list
}

func model(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.BeforeLLMCall}
	tools, messages, _ := strings.Cut(rest, "|")
	for _, name := range strings.Fields(tools) {
		if slices.Contains(verdicts(), name) {
			return ev, misused("model", fmt.Errorf("the answer %q stands behind no arrow", name))
		}
		server, tool := splitTool(name)
		ev.Tools = append(ev.Tools, hook.Tool{Server: server, Name: tool})
	}
	if strings.TrimSpace(messages) == "" {
		return ev, nil
	}
	err := unmarshal("model", messages, &ev.Messages)
	return ev, err
}

func proposes(rest string) (hook.Event, error) {
	ev := hook.Event{Point: hook.AfterLLMCall}
	for more := true; more; {
		f := strings.SplitN(strings.TrimSpace(rest), " ", 3)
		if len(f) < 2 {
			return ev, misused("proposes", errUsage)
		}
		c := hook.Call{ID: floodmark.CallID(f[0])}
		c.Server, c.Name = splitTool(f[1])
		rest, more = "", false
		if len(f) == 3 {
			var err error
			if c.Args, rest, err = arguments("proposes", f[2]); err != nil {
				return ev, err
			}
		}
		if rest != "" {
			if rest, more = strings.CutPrefix(rest, "& "); !more {
				return ev, misused("proposes", fmt.Errorf("behind the arguments stands %q; the next call follows behind « & »", shorten(rest, maxQuoted)))
			}
		}
		ev.Calls = append(ev.Calls, c)
	}
	return ev, nil
}

// tool reads a call or its result.
func (w *world) tool(verb, rest string) (hook.Event, error) {
	s := w.session()
	ev := hook.Event{Point: hook.AfterToolCall, Call: s.call}
	if verb == "returns" || strings.HasPrefix(verb, "fails") {
		if s.call.Name == "" {
			return ev, fmt.Errorf("no «call» came before in session %s, so nothing can come back; «result [#ID] TOOL TEXT» is a result nobody announced", w.current)
		}
		ev.Result = hook.Result{Text: lines(rest), Error: verb != "returns"}
		if s.boxed {
			ev.Box = &hook.BoxEnd{State: floodmark.BoxEnded, Failed: verb != "returns"}
		}
		if verb == "fails-in-box" {
			ev.Box, ev.Result.Text = &hook.BoxEnd{Failed: true, Hosts: strings.Fields(rest)}, "failed"
		}
		return ev, nil
	}
	var c hook.Call
	if strings.HasPrefix(rest, "#") {
		id, more, _ := strings.Cut(rest[1:], " ")
		c.ID, rest = floodmark.CallID(id), more
		if id == "" {
			return ev, misused(verb, errUsage)
		}
	}
	name, more, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if c.Server, c.Name = splitTool(name); c.Name == "" || strings.HasPrefix(name, "{") {
		return ev, misused(verb, fmt.Errorf("«%s» names no tool", verb))
	}
	if verb == "result" {
		ev.Call, ev.Result = c, hook.Result{Text: lines(more)}
		return ev, nil
	}
	args, more, err := arguments(verb, strings.TrimSpace(more))
	if err == nil && more != "" {
		err = misused(verb, fmt.Errorf("behind the arguments stands %q; the answer that must come follows behind « -> »", shorten(more, maxQuoted)))
	}
	if err != nil {
		return ev, err
	}
	c.Args = args
	s.call = c
	const walled = "codex" // a box in this agent's own sandbox reaches no host
	return hook.Event{Point: hook.BeforeToolCall, Call: c, Boxes: w.boxes, Push: w.push, Holes: w.boxes && floodmark.Program(w.agent) != walled}, nil
}

// arguments reads the arguments of a call and returns the text after them. Arguments that begin
// with «!» are passed on unchanged, to the end of the line, so that a story can send invalid ones.
func arguments(verb, text string) (args json.RawMessage, rest string, err error) {
	if text == "" || strings.HasPrefix(text, "& ") {
		return nil, text, nil
	}
	if raw, ok := strings.CutPrefix(text, "!"); ok {
		return json.RawMessage(raw), "", nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if err = dec.Decode(&args); err != nil {
		err = fmt.Errorf("the arguments %q are no JSON: %w", shorten(text, maxQuoted), plainError(err))
	} else if args[0] != '{' {
		err = fmt.Errorf("the arguments %q are no JSON object", shorten(string(args), maxQuoted))
	}
	if err != nil {
		return nil, "", misused(verb, fmt.Errorf("%w (behind «!» they are passed on as they stand)", err))
	}
	return args, strings.TrimSpace(text[dec.InputOffset():]), nil
}

func (w *world) owner(verb, rest string) (string, error) {
	var cmd approval.Command
	switch verb {
	case "endorse", "withdraw":
		if path, ok := strings.CutPrefix(rest, "--diff "); ok && verb == "endorse" {
			return "", w.endorseFile(path)
		}
		cmd = approval.Command{Verb: approval.Endorse, Digest: floodmark.DigestOf(lines(rest)).String()}
		if verb == "withdraw" {
			cmd.Verb = approval.Withdraw
		}
		if err := needs(verb, rest); err != nil {
			return "", err
		}
		return w.command(cmd)
	case "deny":
		cmd.Verb = approval.Deny
	default:
		cmd.Verb = approval.Approve
	}
	cmd.Tool, cmd.Ticket = approval.All, w.ticket
	if rest != "" {
		cmd.Ticket = floodmark.TicketID(rest)
	}
	calls, ok := w.questions[cmd.Ticket]
	switch {
	case len(w.questions) == 0:
		return "", fmt.Errorf("nobody was asked anything yet, so there is nothing to %s", verb)
	case !ok:
		var known []string
		for _, id := range slices.Sorted(maps.Keys(w.questions)) {
			known = append(known, string(id))
		}
		return "", misused(verb, unknown("question that was asked", rest, known))
	}
	cmd.Calls, cmd.Picked = calls, w.places[cmd.Ticket]
	return w.command(cmd)
}

func (w *world) setAuditor(rest string) error {
	word, reason, _ := strings.Cut(rest, " ")
	switch {
	case word == "block":
		w.opinion = audit.Opinion{Says: audit.Block, Reason: lines(reason)}
	case rest == "allow":
		w.opinion = audit.Opinion{Says: audit.Allow}
	case rest == "unsure":
		w.opinion = audit.Opinion{Says: audit.Unsure}
	case rest == "silent":
		w.opinion = audit.Opinion{}
	default:
		return misused("auditor", errUsage)
	}
	return nil
}

// setVerifier sets what a gate answers from here on.
func (w *world) setVerifier(rest string) error {
	name, rest, _ := strings.Cut(rest, " ")
	word, reason, _ := strings.Cut(rest, " ")
	a := kernel.GateAnswer{Gate: name}
	switch {
	case rest == "allow":
		a.Answer.Allow = true
	case word == "deny":
		a.Answer.Reason = lines(reason)
	case word == "fails":
		a.Failure = &verify.Failure{Kind: verify.Broken, Text: lines(reason)}
	default:
		return misused("verifier", errUsage)
	}
	w.gates[name] = a
	return nil
}

// splitTool splits «server/tool». A name without a slash is a built-in tool.
func splitTool(name string) (server, tool string) {
	if server, tool, ok := strings.Cut(name, "/"); ok {
		return server, tool
	}
	return "", name
}

// unmarshal reads JSON and refuses any text after it.
func unmarshal(verb, text string, into any) error {
	rest, err := decode(verb, text, into)
	if err == nil && rest != "" {
		err = misused(verb, fmt.Errorf("behind the JSON stands %q; the answer that must come follows behind « -> »", shorten(rest, maxQuoted)))
	}
	return err
}

// decode reads JSON and returns the text after it.
func decode(verb, text string, into any) (rest string, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return "", misused(verb, plainError(err))
	}
	return strings.TrimSpace(text[dec.InputOffset():]), nil
}

// plainError replaces the errors of encoding/json about the end of the input by plainer ones.
func plainError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.Is(err, io.EOF):
		return errors.New("there is no JSON")
	}
	return err
}
