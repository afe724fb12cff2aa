package agents_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
)

const claude = "claude-code"

func asksItself(resp hookframe.Response) bool {
	return resp.Exit == 0 && strings.Contains(resp.Stdout, `"permissionDecision":"ask"`)
}

// answers returns how questions of the session ended, and where.
func (d *desk) answers() (list []string) {
	d.t.Helper()
	for _, f := range d.facts() {
		if a, ok := f.(floodmark.TicketAnswered); ok {
			list = append(list, a.Verdict.String()+" "+a.Channel)
		}
	}
	return list
}

// unread counts the session's sources that stand for unseen results.
func (d *desk) unread() (n int) {
	d.t.Helper()
	for _, f := range d.facts() {
		if s, ok := f.(floodmark.ContentSeen); ok && s.Kind == floodmark.NodeToolResult && s.Call == "" {
			n++
		}
	}
	return n
}

// If that is enabled, Claude Code asks in its own window. The result proves the person's approval,
// which is recorded like one in any other channel.
func TestAskedInTheWindow(t *testing.T) {
	d := newDesk(t, claude, claude)
	d.read()
	_, resp := d.runs(outward, "c2")
	if !asksItself(resp) || !strings.Contains(resp.Stdout, "-> Bash: waits for your approval because ") || strings.Contains(resp.Stdout, "Tell the owner") {
		t.Fatalf("%+v", resp)
	}
	d.shown()
	if resp := d.gave(outward, "c2", "thanks"); resp.Exit != 0 || resp.Stdout != "" {
		t.Errorf("the result: %+v", resp)
	}
	if got := d.answers(); !slices.Equal(got, []string{"allow window of claude-code"}) || len(d.incidents()) > 0 || d.unread() > 0 {
		t.Errorf("answers %v, incidents %v, unread %d", got, d.incidents(), d.unread())
	}
	if _, resp := d.runs(outward+"/2", "c3"); !asksItself(resp) {
		t.Errorf("the next one: %+v", resp)
	}
	d.shown()
	if _, resp := d.runs(orders, "c4"); asksItself(resp) {
		t.Errorf("what is refused is not asked about: %+v", resp)
	}
	d.secretive()
}

// An event before the result closes the question: it was not approved, and the call may or may not
// have run.
func TestNotAnsweredInTheWindow(t *testing.T) {
	for name, next := range map[string]func(d *desk){
		"another call":      func(d *desk) { d.runs("ls", "c3") },
		"the same again":    func(d *desk) { d.runs(outward, "c3") },
		"a prompt":          func(d *desk) { d.says(d.speech.prompt, "No. What else is new?", "", "") },
		"an error":          func(d *desk) { d.says(failed(), outward, "c2", "the user said no") },
		"another's result":  func(d *desk) { d.gave("ls", "c9", "a b") },
		"an unknown result": func(d *desk) { d.gave(outward, "c9", "x") },
	} {
		d := newDesk(t, claude, claude)
		d.read()
		if _, resp := d.runs(outward, "c2"); !asksItself(resp) {
			t.Fatalf("%s: %+v", name, resp)
		}
		next(d)
		if got := d.answers(); !slices.Equal(got, []string{"restrict window of claude-code"}) || d.unread() < 1 {
			t.Errorf("%s: answers %v, unread %d", name, got, d.unread())
		}
	}
}

func failed() [2]string {
	return [2]string{"PostToolUseFailure", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":TEXT},"tool_use_id":CALL,"error":RESULT}`}
}

// A denial in another channel is valid if it comes in time. If the call runs despite it, that is
// recorded.
func TestRefusedElsewhereWhileTheWindowAsks(t *testing.T) {
	d := newDesk(t, claude, claude)
	d.read()
	d.runs(outward, "c2")
	q := d.shown()
	if _, err := d.monitor.Answer(t.Context(), d.session(), approval.Command{Verb: approval.Deny, Tool: approval.All, Ticket: q.ID, By: "owner", Channel: "cli"}); err != nil {
		t.Fatal(err)
	}
	d.gave(outward, "c2", "thanks")
	if got := d.incidents(); !slices.Equal(got, []string{"refused-call-ran"}) {
		t.Errorf("incidents %v", got)
	}
}

// Unless a person is at the window and no mode answers for them, the hook denies, and our own
// channels ask.
func TestOnlyAWindowWithAPersonAsks(t *testing.T) {
	const raw = `{"session_id":"s","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{},"tool_use_id":"c"}`
	j := func() *judge { return verdicts()["confirm"] }
	on := func(names ...string) *agents.Native {
		return agents.NewNative(names, func(context.Context, journal.Session, floodmark.TicketID, floodmark.Verdict, string) error {
			return nil
		})
	}
	try := func(n *agents.Native, raw, entry string) bool {
		req := hookframe.Request{V: 1, Agent: claude, Event: "PreToolUse", Raw: []byte(raw), Env: map[string]string{"CLAUDE_CODE_ENTRYPOINT": entry}}
		resp := agents.Door{Hooks: j(), Native: n}.Answer(t.Context(), req)
		if !asksItself(resp) && lets(t, req, resp) {
			t.Errorf("%s runs: %+v", raw, resp)
		}
		return asksItself(resp)
	}
	if !try(on(claude), raw, "cli") {
		t.Error("it does not ask")
	}
	for _, mode := range []string{"bypassPermissions", "dontAsk", "acceptEdits", "auto", "plan", "delegate", ""} {
		if try(on(claude), strings.Replace(raw, `"default"`, `"`+mode+`"`, 1), "cli") {
			t.Errorf("it asks in mode %q", mode)
		}
	}
	for _, entry := range []string{"", "sdk-cli", "sdk-py", "CLI"} {
		if try(on(claude), raw, entry) {
			t.Errorf("it asks when started by %q", entry)
		}
	}
	for name, n := range map[string]*agents.Native{"nil": nil, "nobody": on(), "another": on("codex", "cursor")} {
		if try(n, raw, "cli") {
			t.Errorf("it asks with %s", name)
		}
	}
	if try(on(claude), strings.Replace(raw, `{"s`, `{"agent_id":"a","s`, 1), "cli") || try(on(claude), strings.Replace(raw, `"c"`, `""`, 1), "cli") {
		t.Error("it asks for a sub-agent, or for a call without a name")
	}
	for _, agent := range []string{"codex", "cursor", "gemini-cli", "copilot-cli", "opencode", "pi", ""} {
		if agents.CanAsk(agent) {
			t.Errorf("%s can ask", agent)
		}
	}
}

// The window shows one call, so a question about more than one is asked elsewhere.
func TestAQuestionOfTwoCallsIsNotHandedOn(t *testing.T) {
	j := verdicts()["confirm"]
	d := agents.Door{Hooks: j, Native: agents.NewNative([]string{claude}, func(context.Context, journal.Session, floodmark.TicketID, floodmark.Verdict, string) error {
		return nil
	})}
	call := func(id string) bool {
		return asksItself(d.Answer(t.Context(), hookframe.Request{
			V: 1, Agent: claude, Event: "PreToolUse", Env: map[string]string{"CLAUDE_CODE_ENTRYPOINT": "cli"},
			Raw: []byte(`{"session_id":"s","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{},"tool_use_id":"` + id + `"}`),
		}))
	}
	for i, c := range []struct {
		id   string
		asks bool
	}{{"a", true}, {"a", true}, {"b", false}} { // a question about one call is asked in the window, one about two is not
		if call(c.id) != c.asks {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	j.reply.Ticket = "t2"
	if !call("b") {
		t.Error("a new question is asked")
	}
	j.reply.Decision.Verifiers = []string{"phone"}
	j.reply.Ticket = "t3"
	if call("c") {
		t.Error("somebody else has to agree, too")
	}
}

// An approval in the window runs the call unchanged. So a call that must stay in its box, or is
// replaced by another command, is asked about elsewhere, and the hook waits for that answer.
func TestABoxedCallIsNotHandedOn(t *testing.T) {
	const raw = `{"session_id":"s","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"c"}`
	req := hookframe.Request{V: 1, Agent: claude, Event: "PreToolUse", Raw: []byte(raw), Env: map[string]string{"CLAUDE_CODE_ENTRYPOINT": "cli"}}
	native := agents.NewNative([]string{claude}, func(context.Context, journal.Session, floodmark.TicketID, floodmark.Verdict, string) error {
		return nil
	})
	question := refused(floodmark.Confirm, "waits for your approval.", "")
	question.Decision.Reach = floodmark.Boxed
	silent := func(context.Context, journal.Session, floodmark.TicketID) (floodmark.Verdict, error) {
		return floodmark.Confirm, errors.New("nobody answered")
	}
	d := agents.Door{Hooks: &judge{reply: question}, Native: native, Rewrites: agents.NewRewrites(), Await: silent}
	if resp := d.Answer(t.Context(), req); asksItself(resp) || lets(t, req, resp) {
		t.Errorf("a question about a boxed call: %+v", resp)
	}
	d.Hooks = &judge{reply: boxed("")}
	if resp := d.Answer(t.Context(), req); asksItself(resp) || lets(t, req, resp) {
		t.Errorf("a box without a command: %+v", resp)
	}
	with := question
	with.Command = "box -- npm test"
	d.Hooks = &judge{reply: with}
	if resp := d.Answer(t.Context(), req); asksItself(resp) || lets(t, req, resp) {
		t.Errorf("a question with a command: %+v", resp)
	}
	j := &judge{reply: question}
	waited := 0
	d.Hooks = j
	d.Await = func(_ context.Context, _ journal.Session, ticket floodmark.TicketID) (floodmark.Verdict, error) {
		if waited++; ticket != question.Ticket {
			t.Errorf("waits for %q", ticket)
		}
		j.reply = boxed("box -- npm test")
		return floodmark.Allow, nil
	}
	if resp := d.Answer(t.Context(), req); waited != 1 || asksItself(resp) || !strings.Contains(resp.Stdout, "box -- npm test") {
		t.Errorf("after a yes elsewhere, waited %d: %+v", waited, resp)
	}
	free := refused(floodmark.Confirm, "waits for your approval.", "")
	free.Ticket = "t2"
	d.Hooks = &judge{reply: free}
	if resp := d.Answer(t.Context(), req); waited != 1 || !asksItself(resp) {
		t.Errorf("a call without a box, waited %d: %+v", waited, resp)
	}
}

// If the person's answer cannot be recorded, the session does not continue.
func TestAnAnswerThatIsLost(t *testing.T) {
	d := newDesk(t, claude)
	d.door.Native = agents.NewNative([]string{claude}, func(context.Context, journal.Session, floodmark.TicketID, floodmark.Verdict, string) error {
		return errors.New("disk full")
	})
	d.read()
	d.runs(outward, "c2")
	if resp := d.gave(outward, "c2", "thanks"); !strings.Contains(resp.Stdout, "disk full") {
		t.Errorf("%+v", resp)
	}
	if ok, resp := d.runs("ls", "c3"); ok || !strings.Contains(resp.Stdout, "disk full") {
		t.Errorf("%+v", resp)
	}
}
