package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
)

// gates reports whether something runs, is shown or is sent after an event unless the answer denies
// it.
func gates(event string) bool {
	switch event {
	case "PreToolUse", "PostToolUse", "UserPromptSubmit", "tool_call", "tool_result", "input",
		"BeforeTool", "AfterTool", "BeforeAgent", "preToolUse", "permissionRequest", "postToolUse", "userPromptSubmitted",
		"chat.message", "tool.execute.before", "tool.execute.after", "shell.env",
		"UserPromptExpansion", "beforeSubmitPrompt", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile",
		"before_agent_run", "before_tool_call":
		return true
	}
	return false
}

// said reports whether an event is a message to the model.
func said(event string) bool {
	return slices.Contains([]string{"UserPromptSubmit", "input", "BeforeAgent", "userPromptSubmitted", "chat.message", "beforeSubmitPrompt", "before_agent_run"}, event)
}

// asks reports whether an event is sent to the monitor. A permissionRequest is not, because its
// call was judged at preToolUse.
func asks(event string) bool { return event != "permissionRequest" }

// lets reports whether the agent continues after an answer, as tests with it showed. Codex
// continues after everything but an exact denial.
func lets(t testing.TB, req hookframe.Request, resp hookframe.Response) bool {
	t.Helper()
	switch req.Agent {
	case "codex":
		return codexLets(req.Event, resp)
	case "claude-code":
		return claudeLets(req.Event, resp)
	case "cursor":
		return cursorLets(req.Event, resp)
	case "gemini-cli":
		return geminiLets(resp)
	case "copilot-cli":
		return copilotLets(req.Event, resp)
	case "pi", "opencode", "openclaw":
		return shimLets(t, req.Event, resp)
	}
	return resp.Exit == 0 // unknown events do not occur
}

func codexLets(event string, resp hookframe.Response) bool {
	if resp.Exit == 2 {
		return strings.TrimSpace(resp.Stderr) == ""
	}
	if resp.Exit != 0 {
		return true
	}
	dec := json.NewDecoder(strings.NewReader(resp.Stdout))
	dec.DisallowUnknownFields()
	if event == "PreToolUse" {
		var no struct {
			Output struct {
				Event    string `json:"hookEventName"`
				Decision string `json:"permissionDecision"`
				Reason   string `json:"permissionDecisionReason"`
			} `json:"hookSpecificOutput"`
		}
		return dec.Decode(&no) != nil || no.Output.Event != event || no.Output.Decision != "deny" || strings.TrimSpace(no.Output.Reason) == ""
	}
	var no struct{ Decision, Reason string }
	return dec.Decode(&no) != nil || no.Decision != "block" || strings.TrimSpace(no.Reason) == ""
}

// shimLets reports whether an agent continues with a shim.
func shimLets(t testing.TB, event string, resp hookframe.Response) bool {
	t.Helper()
	if resp.Exit != 0 {
		return false
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(resp.Stdout), &said); err != nil {
		return false
	}
	switch event {
	case "tool_call", "tool.execute.before", "before_tool_call":
		return said["block"] == false
	case "input", "chat.message", "before_agent_run":
		return said["action"] == "continue"
	}
	return said["keep"] == true
}

// FuzzAnswer checks that, for any message of any agent, the answer lets nothing run that the
// monitor did not allow.
func FuzzAnswer(f *testing.F) {
	for _, file := range messages(f) {
		req := message(f, file)
		f.Add(req.Agent, req.Event, []byte(req.Raw), byte(3))
		f.Add(req.Agent, req.Event, []byte(req.Raw), byte(1))
		f.Add(req.Agent, req.Event, []byte(req.Raw), byte(7))
	}
	f.Add("codex", "PreToolUse", []byte(`{"hook_event_name":"PreToolUse"}`), byte(3))
	f.Add("codex", "Unknown", []byte(`{"hook_event_name":"Unknown","session_id":"s"}`), byte(3))
	f.Add("other", "x", []byte(`null`), byte(3))
	f.Fuzz(func(t *testing.T, agent, event string, raw []byte, verdict byte) {
		v, reach := floodmark.Verdict(verdict%4), floodmark.Free
		if verdict&4 != 0 {
			reach = floodmark.Boxed // and the reply has no command that starts a box
		}
		j := &judge{reply: hook.Reply{Decision: floodmark.Decision{Verdict: v, Reach: reach}}}
		req := hookframe.Request{V: 1, Agent: agent, Event: event, Raw: raw}
		resp := agents.Door{Hooks: j}.Answer(t.Context(), req)
		if ofCursor(agent, raw) || wraps(agent, raw) {
			return
		}
		if allowed := v == floodmark.Allow && reach == floodmark.Free && len(j.saw) > 0; !allowed && gates(event) && asks(event) && lets(t, req, resp) {
			t.Errorf("%s %s %q: %+v", agent, event, raw, resp)
		}
		if resp.Exit != 0 && strings.TrimSpace(resp.Stderr) == "" {
			t.Errorf("%s %s: status %d without a word", agent, event, resp.Exit)
		}
		if strings.Contains(strings.TrimSuffix(resp.Stdout, "\n"), "\n") {
			t.Errorf("more than one line: %q", resp.Stdout)
		}
	})
}

func ask(t *testing.T, d agents.Door, agent, event, raw string) hookframe.Response {
	t.Helper()
	return d.Answer(t.Context(), hookframe.Request{V: 1, Agent: agent, Event: event, Raw: json.RawMessage(raw)})
}

// A message that is not understood is refused without asking the monitor.
func TestNotUnderstood(t *testing.T) {
	for _, c := range append(notUnderstood(), [][3]string{
		{"codex", "PreToolUse", `{`},
		{"codex", "PreToolUse", `null`},
		{"codex", "PreToolUse", `[]`},
		{"codex", "PreToolUse", `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"` + strings.Repeat("s", hook.MaxNameBytes) + `","tool_name":"Bash"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"x","tool_input":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","agent_id":"a","tool_name":"spawn_agent"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","agent_id":"a","tool_name":"multi_agent_v1spawn_agent"}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"multi_agent_v1"}`},
		{"codex", "PermissionRequest", `{"hook_event_name":"PermissionRequest","session_id":"s"}`},
		{"codex", "SubagentStart", `{"hook_event_name":"SubagentStart","session_id":"s"}`},
		{"codex", "SessionStart", `{"hook_event_name":"SessionStart","session_id":"s","source":"magic"}`},
		{"pi", "tool_call", `{"event":{"type":"tool_result"},"ctx":{"sessionId":"s"}}`},
		{"pi", "tool_call", `{"event":{"type":"tool_call","toolName":"bash"}}`},
		{"pi", "tool_call", `{"event":{"type":"tool_call"},"ctx":{"sessionId":"s"}}`},
		{"pi", "session_start", `{"event":{"type":"session_start","reason":"magic"},"ctx":{"sessionId":"s"}}`},
		{"pi", "other", `{"event":{"type":"other"},"ctx":{"sessionId":"s"}}`},
		{"opencode", "tool.execute.before", `{"tool":"bash"}`},
		{"opencode", "tool.execute.before", `{"session":{"id":"s"}}`},
		{"opencode", "tool.execute.before", `{"session":{"id":"s"},"tool":"task"}`},
		{"opencode", "tool.execute.before", `{"session":{"id":"s"},"tool":"task","args":{"task_id":"other"}}`},
		{"opencode", "tool.execute.before", `{"session":{"id":"s"},"tool":"task","args":{"task_id":"other"},"target":{"id":"other"}}`},
		{"opencode", "tool.execute.before", `{"session":{"id":"s"},"tool":"task","args":{"session_id":"other"},"target":{"id":"mine","parentID":"s"}}`},
		{"opencode", "tool.execute.after", `{"session":{"id":"s"},"output":"x"}`},
		{"opencode", "chat.message", `{"session":{"id":"s","start":"magic"},"parts":[{"type":"text","text":"hi"}]}`},
		{"opencode", "chat.message", `{"session":{"id":"s"},"parts":[{"type":"file","sha256":"short"}]}`},
		{"opencode", "permission.ask", `{"session":{"id":"s"}}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","toolName":"exec"}`},
		{"openclaw", "before_tool_call", `{"sessionId":"s","toolName":"exec"}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s"}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"tool_call"}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"tool_call","args":{"args":{}}}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"tool_call","args":{"id":"tool_call","args":{"id":"exec"}}}`},
		{"openclaw", "tool_result", `{"sessionKey":"k","sessionId":"s","result":[]}`},
		{"openclaw", "subagent_ended", `{"sessionKey":"k","sessionId":"s"}`},
		{"openclaw", "after_compaction", `{"sessionKey":"k","sessionId":"s"}`},
		{"openclaw", "llm_input", `{"sessionKey":"k","sessionId":"s"}`},
		{"nobody", "x", `{}`},
	}...) {
		j := &judge{reply: allowed()}
		resp := ask(t, agents.Door{Hooks: j}, c[0], c[1], c[2])
		req := hookframe.Request{Agent: c[0], Event: c[1]}
		if len(j.saw) > 0 || lets(t, req, resp) || !strings.Contains(resp.Stdout+resp.Stderr, "floodmark: ") {
			t.Errorf("%s: %+v, asked %d times", c, resp, len(j.saw))
		}
	}
}

// A sub-agent's first prompt begins its session. If the session exists or cannot begin, the prompt
// has no known author.
func TestPromptOfASubagent(t *testing.T) {
	for agent, m := range map[string]struct{ event, raw string }{
		"codex":       {"UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit","session_id":"s","agent_id":"a","prompt":"hi"}`},
		"claude-code": {"UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit","session_id":"s","agent_id":"a","prompt":"hi"}`},
		"cursor":      {"subagentStart", `{"hook_event_name":"subagentStart","conversation_id":"s","parent_conversation_id":"s","subagent_id":"a","task":"hi"}`},
		"copilot-cli": {"userPromptSubmitted", `{"sessionId":"a","agentId":"a","parentAgentId":"s","prompt":"hi"}`},
	} {
		promptOfASubagent(t, agent, m.event, m.raw)
	}
}

func promptOfASubagent(t *testing.T, agent, event, raw string) {
	t.Helper()
	for name, c := range map[string]struct {
		errs []error
		lets bool
		want []hook.Point
	}{
		"first":   {[]error{nil}, true, []hook.Point{hook.SubagentSpawned}},
		"later":   {[]error{errors.New("begun already"), nil}, true, []hook.Point{hook.SubagentSpawned, hook.MessageReceived}},
		"trouble": {[]error{errors.New("disk full"), errors.New("disk full")}, false, []hook.Point{hook.SubagentSpawned, hook.MessageReceived}},
	} {
		j := &failing{errs: c.errs}
		resp := ask(t, agents.Door{Hooks: j}, agent, event, raw)
		var points []hook.Point
		for _, ev := range j.saw {
			points = append(points, ev.Point)
			if ev.Origin.IsOwner || ev.Point == hook.MessageReceived && (string(ev.Session) != agent+":a" || ev.Origin.Kind != floodmark.FromUnknown) {
				t.Errorf("%s: %+v", name, ev)
			}
		}
		if !slices.Equal(points, c.want) || lets(t, hookframe.Request{Agent: agent, Event: event}, resp) != c.lets {
			t.Errorf("%s, %s: %v, %+v", agent, name, points, resp)
		}
	}
}

// failing allows everything, or returns its error if one is set.
type failing struct {
	errs []error
	saw  []hook.Event
}

func (f *failing) Handle(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
	f.saw = append(f.saw, ev)
	if err := f.errs[len(f.saw)-1]; err != nil {
		return hook.Reply{}, err
	}
	return allowed(), nil
}

func TestOnlyThePersonIsTheOwner(t *testing.T) {
	j := &judge{reply: allowed()}
	ask(t, agents.Door{Hooks: j}, "codex", "UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"hi"}`)
	if len(j.saw) != 1 || !j.saw[0].Origin.IsOwner {
		t.Errorf("%+v", j.saw)
	}
	for source, owner := range map[string]bool{"interactive": true, "rpc": false, "extension": false, "": false} {
		j := &judge{reply: allowed()}
		ask(t, agents.Door{Hooks: j}, "pi", "input", `{"event":{"type":"input","text":"hi","source":"`+source+`","images":[{"data":"x"}]},"ctx":{"sessionId":"s"}}`)
		if len(j.saw) != 1 || j.saw[0].Origin.IsOwner != owner || len(j.saw[0].Parts) != 1 {
			t.Errorf("%q: %+v", source, j.saw)
		}
	}
}

// pi reports a start when an old session is continued.
func TestASessionWithAPastIsResumed(t *testing.T) {
	for raw, want := range map[string]hook.Cause{
		`{"event":{"type":"session_start","reason":"startup"},"ctx":{"sessionId":"s"}}`:                                                    hook.Startup,
		`{"event":{"type":"session_start","reason":"new"},"ctx":{"sessionId":"s"}}`:                                                        hook.Startup,
		`{"event":{"type":"session_start","reason":"startup"},"ctx":{"sessionId":"s","entries":["message"]}}`:                              hook.Resume,
		`{"event":{"type":"session_start","reason":"startup"},"ctx":{"sessionId":"s","entries":["model_change","thinking_level_change"]}}`: hook.Startup,
		`{"event":{"type":"session_start","reason":"fork"},"ctx":{"sessionId":"s"}}`:                                                       hook.Resume,
	} {
		j := &judge{reply: allowed()}
		ask(t, agents.Door{Hooks: j}, "pi", "session_start", raw)
		if len(j.saw) != 1 || j.saw[0].Cause != want || j.saw[0].ByPerson {
			t.Errorf("%s: %+v", raw, j.saw)
		}
	}
}

// changing answers Confirm first and then something else.
type changing struct {
	replies []hook.Reply
	asked   int
}

func (c *changing) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	r := c.replies[min(c.asked, len(c.replies)-1)]
	c.asked++
	return r, nil
}

func TestAwait(t *testing.T) {
	question := refused(floodmark.Confirm, `news.example -> Bash: waits for your approval because it runs code. Approve it or deny it.`, "Go on.")
	question.Decision.Remedy.Person = "Approve it or deny it."
	const raw = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`
	for name, c := range map[string]struct {
		verdict floodmark.Verdict
		err     error
		then    hook.Reply
		lets    bool
		says    string
	}{
		"approved": {floodmark.Allow, nil, allowed(), true, ""},
		"denied":   {floodmark.Restrict, nil, refused(floodmark.Restrict, "denied.", ""), false, "denied"},
		"no time":  {floodmark.Restrict, context.DeadlineExceeded, allowed(), false, "the person answers question t1 with «floodmark watch»"},
		"expired":  {floodmark.Confirm, nil, allowed(), false, "Nobody answered question t1 in time"}, // if it were judged again, it would be asked again
	} {
		h := &changing{replies: []hook.Reply{question, c.then}}
		d := agents.Door{Hooks: h, Await: func(_ context.Context, s journal.Session, ticket floodmark.TicketID) (floodmark.Verdict, error) {
			if s.ID != "codex:s" || ticket != "t1" {
				t.Errorf("%s: waits for %s of %s", name, ticket, s)
			}
			return c.verdict, c.err
		}}
		resp := ask(t, d, "codex", "PreToolUse", raw)
		if got := codexLets("PreToolUse", resp); got != c.lets || !strings.Contains(resp.Stdout, c.says) {
			t.Errorf("%s: %+v", name, resp)
		}
		// The line is for the model.
		const held = "floodmark: news.example -\\u003e Bash: waits for the person's approval because it runs code. Nobody "
		if c.says != "" && c.says != "denied" && (!strings.Contains(strings.ReplaceAll(resp.Stdout, "->", `-\u003e`), held) || !strings.Contains(resp.Stdout, "Go on")) {
			t.Errorf("%s: %s", name, resp.Stdout)
		}
	}
}

// A line that contains foreign text stays one line of plain text within its length limit.
func TestReasonsAreOnePlainLine(t *testing.T) {
	for line, want := range map[string]string{
		"a\nb\x1b[2Jc\u202ed":     "floodmark: a b [2Jc d",
		strings.Repeat("é", 1000): "floodmark: " + strings.Repeat("é", 1000),
		strings.Repeat("é", 1001): "floodmark: " + strings.Repeat("é", 998) + "…",
	} {
		j := &judge{reply: refused(floodmark.Restrict, line, "")}
		resp := ask(t, agents.Door{Hooks: j}, "pi", "tool_call", `{"event":{"type":"tool_call","toolName":"bash"},"ctx":{"sessionId":"s"}}`)
		var got struct{ Reason string }
		if err := json.Unmarshal([]byte(resp.Stdout), &got); err != nil || got.Reason != want {
			t.Errorf("%.40q: %.60q, %v", line, got.Reason, err)
		}
	}
}

// The monitor gets the asker's deadline.
func TestTheDeadlineReachesTheMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		want, _ := ctx.Deadline()
		h := handle(func(ctx context.Context) error {
			if until, ok := ctx.Deadline(); !ok || !until.Equal(want) {
				return fmt.Errorf("it is %v (%v), want %v", until, ok, want)
			}
			return nil
		})
		resp := agents.Door{Hooks: h}.Answer(ctx, hookframe.Request{Agent: "codex", Event: "SessionEnd", Raw: json.RawMessage(`{"hook_event_name":"SessionEnd","session_id":"s"}`)})
		if resp.Exit != 0 {
			t.Errorf("%+v", resp)
		}
	})
}

type handle func(context.Context) error

func (h handle) Handle(ctx context.Context, _ string, _ hook.Event) (hook.Reply, error) {
	return allowed(), h(ctx)
}
