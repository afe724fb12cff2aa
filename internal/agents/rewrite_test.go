package agents_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// boxed returns a reply that lets another command run.
func boxed(command string) hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}, Command: command}
}

// replacement returns the new arguments in each agent's answer, read as the agent's documents or
// source say. The shims do what the answer says.
func replacement(t *testing.T, agent string, resp hookframe.Response) (args json.RawMessage, command string) {
	t.Helper()
	var out struct {
		Specific struct {
			Event    string          `json:"hookEventName"`
			Decision string          `json:"permissionDecision"`
			Updated  json.RawMessage `json:"updatedInput"`
			Gemini   json.RawMessage `json:"tool_input"`
		} `json:"hookSpecificOutput"`
		Copilot json.RawMessage `json:"modifiedArgs"`
		Cursor  json.RawMessage `json:"updated_input"`
		Block   bool            `json:"block"`
		Command string          `json:"command"`
	}
	if err := json.Unmarshal([]byte(resp.Stdout), &out); err != nil || resp.Exit != 0 {
		t.Fatalf("%s: %+v, %v", agent, resp, err)
	}
	switch agent {
	case "claude-code":
		if out.Specific.Event != "PreToolUse" || out.Specific.Decision != "" {
			t.Errorf("%s", resp.Stdout) // «allow» would also answer Claude Code's own question
		}
		return out.Specific.Updated, ""
	case "codex":
		if out.Specific.Event != "PreToolUse" || out.Specific.Decision != "allow" {
			t.Errorf("%s", resp.Stdout) // without it Codex runs the original
		}
		return out.Specific.Updated, ""
	case "gemini-cli":
		return out.Specific.Gemini, ""
	case "copilot-cli":
		return out.Copilot, ""
	case "cursor":
		return out.Cursor, ""
	}
	if !out.Block {
		t.Errorf("%s: a shim that does not know commands would run the original: %s", agent, resp.Stdout)
	}
	return nil, out.Command
}

// calls are the agents' shell calls, each with an argument besides the command; after is the report
// of the result.
func shellCalls() map[string]struct{ before, after [2]string } {
	both := func(event, after, message string) struct{ before, after [2]string } {
		message = strings.Replace(message, "TEXT", `"a <b> & \"c\""`, 1)
		return struct{ before, after [2]string }{[2]string{event, message}, [2]string{after, strings.Replace(message, `"`+event+`"`, `"`+after+`"`, 1)}}
	}
	return map[string]struct{ before, after [2]string }{
		"claude-code": both("PreToolUse", "PostToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"Bash","tool_input":{"timeout":120000.0,"command":COMMAND,"description":TEXT}}`),
		"codex":       both("PreToolUse", "PostToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"Bash","tool_input":{"command":COMMAND}}`),
		"gemini-cli":  both("BeforeTool", "AfterTool", `{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"dir_path":"x","command":COMMAND,"description":TEXT}}`),
		"copilot-cli": both("preToolUse", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"initial_wait":1e2,"command":COMMAND,"description":TEXT}}`),
		"cursor":      both("preToolUse", "postToolUse", `{"hook_event_name":"preToolUse","conversation_id":"s","tool_use_id":"1","tool_name":"Shell","tool_input":{"command":COMMAND,"cwd":"/","timeout":12345678901234567890}}`),
		"openclaw":    both("before_tool_call", "tool_result", `{"sessionKey":"k","sessionId":"s","toolName":"exec","toolCallId":"1","args":{"workdir":"/","command":COMMAND}}`),
		"opencode":    both("tool.execute.before", "tool.execute.after", `{"session":{"id":"s"},"tool":"bash","callID":"1","args":{"command":COMMAND,"workdir":"/","description":TEXT}}`),
		"pi":          both("tool_call", "tool_result", `{"event":{"type":"tool_call","toolName":"bash","toolCallId":"1","input":{"command":COMMAND,"timeout":7.50}},"ctx":{"sessionId":"s"}}`),
	}
}

// Every agent is told to run the other command, with all other arguments unchanged, and the result
// belongs to the judged call.
func TestAnotherCommandInItsPlace(t *testing.T) {
	const was, is = `npm test`, `'floodmark-box' '--ticket' 'a<b>' '--' 'bash' '-c' 'npm test'`
	for agent, m := range shellCalls() {
		j := &judge{reply: boxed(is)}
		d := agents.Door{Hooks: j, Rewrites: agents.NewRewrites(), Doubles: agents.NewDoubles()}
		put := func(message, command string) string {
			return strings.Replace(message, "COMMAND", quoted(t, command), 1)
		}
		args, command := replacement(t, agent, ask(t, d, agent, m.before[0], put(m.before[1], was)))
		if args != nil {
			want := strings.Replace(string(j.saw[0].Call.Args), quoted(t, was), `"`+is+`"`, 1)
			if string(args) != want {
				t.Errorf("%s: %s, want %s", agent, args, want)
			}
		} else if command != is {
			t.Errorf("%s: %q", agent, command)
		}
		if !agents.CanRewrite(agent, j.saw[0].Call) {
			t.Errorf("%s says that it cannot", agent)
		}
		j.reply = allowed()
		ask(t, d, agent, m.after[0], put(m.after[1], is))
		if diff := cmp.Diff(j.saw[0].Call, j.saw[1].Call); diff != "" {
			t.Errorf("%s: the result is of another call (-judged +reported):\n%s", agent, diff)
		}
		// The call of a command that was never replaced, or whose result was reported before, is
		// not changed.
		ask(t, d, agent, m.after[0], put(m.after[1], is))
		ask(t, d, agent, m.after[0], put(m.after[1], "other"))
		for i, want := range []string{is, "other"} {
			var args struct{ Command string }
			if err := json.Unmarshal(j.saw[2+i].Call.Args, &args); err != nil || args.Command != want {
				t.Errorf("%s: %s, want %s", agent, j.saw[2+i].Call.Args, want)
			}
		}
	}
}

// The result of another command than ours is reported unchanged, because the agent ran the
// original.
func TestTheOriginalThatRanIsTold(t *testing.T) {
	j := &judge{reply: boxed("box")}
	d := agents.Door{Hooks: j, Rewrites: agents.NewRewrites()}
	m := shellCalls()["codex"]
	ask(t, d, "codex", m.before[0], strings.Replace(m.before[1], "COMMAND", `"one"`, 1))
	j.reply = allowed()
	ask(t, d, "codex", m.after[0], strings.Replace(m.after[1], "COMMAND", `"two"`, 1))
	if !strings.Contains(string(j.saw[1].Call.Args), `"two"`) {
		t.Errorf("%s", j.saw[1].Call.Args)
	}
}

// Where the command cannot be replaced, the call does not run at all.
func TestWhatCannotBeRewrittenIsRefused(t *testing.T) {
	claude := func(tool, input string) [3]string {
		return [3]string{"claude-code", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"` + tool + `","tool_input":` + input + `}`}
	}
	openclaw := func(more string) [3]string {
		return [3]string{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"exec","toolCallId":"1","args":{"command":"ls"` + more + `}}`}
	}
	for _, c := range [][3]string{
		claude("Write", `{"command":"ls"}`),
		claude("BashOutput", `{"command":"ls"}`),
		claude("bash", `{"command":"ls"}`),
		claude("mcp__shell__Bash", `{"command":"ls"}`),
		claude("Bash", `{}`),
		claude("Bash", `{"Command":"ls"}`),
		claude("Bash", `{"command":["ls"]}`),
		claude("Bash", `{"command":null}`),
		claude("Bash", `{"command":"ls","command":"pwd"}`),
		claude("Bash", `["ls"]`),
		claude("Bash", `"ls"`),
		claude("Bash", `{"command":"ls","description":"`+strings.Repeat("x", 256<<10)+`"}`),
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"write_stdin","tool_input":{"command":"ls"}}`},
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"apply_patch","tool_input":{"command":"ls"}}`},
		{"copilot-cli", "preToolUse", `{"sessionId":"s","toolName":"write_bash","toolArgs":{"command":"ls"}}`},
		{"gemini-cli", "BeforeTool", `{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"x","tool_input":{"command":"ls"}}`},
		{"cursor", "beforeShellExecution", `{"hook_event_name":"beforeShellExecution","conversation_id":"s","command":"ls","cwd":"/"}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"process","toolCallId":"1","args":{"command":"ls"}}`},
		{"openclaw", "before_tool_call", `{"sessionKey":"k","sessionId":"s","toolName":"exec","toolKind":"code_mode_exec","toolCallId":"1","args":{"command":"ls"}}`},
		openclaw(`,"env":{"BASH_ENV":"x"}`), openclaw(`,"shell":"x"`),
		claude("Bash", `{"command":"ls","env":{}}`), claude("Bash", `{"command":"ls","Timeout":1}`),
		{"codex", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"Bash","tool_input":{"command":"ls","shell":"./bash"}}`},
		openclaw(`,"host":"node"`), openclaw(`,"host":"sandbox"`), openclaw(`,"node":"laptop"`), openclaw(`,"elevated":true`),
		{"opencode", "tool.execute.before", `{"session":{"id":"s"},"tool":"edit","callID":"1","args":{"command":"ls"}}`},
		{"pi", "tool_call", `{"event":{"type":"tool_call","toolName":"read","toolCallId":"1","input":{"command":"ls"}},"ctx":{"sessionId":"s"}}`},
	} {
		j := &judge{reply: boxed("box")}
		d := agents.Door{Hooks: j, Rewrites: agents.NewRewrites(), Doubles: agents.NewDoubles()}
		resp := ask(t, d, c[0], c[1], c[2])
		req := hookframe.Request{Agent: c[0], Event: c[1]}
		if lets(t, req, resp) || strings.Contains(resp.Stdout, `"box"`) {
			t.Errorf("%v: %+v", c, resp)
		}
		if agents.CanRewrite(c[0], j.saw[0].Call) && c[0] != "cursor" && len(c[2]) < 1000 {
			t.Errorf("%v: it says that it can", c)
		}
	}
	for _, fine := range []string{`,"host":"gateway"`, `,"host":"auto"`, `,"elevated":false,"node":"","env":{}`} {
		c := openclaw(fine)
		resp := ask(t, agents.Door{Hooks: &judge{reply: boxed("box")}, Rewrites: agents.NewRewrites()}, c[0], c[1], c[2])
		if _, command := replacement(t, c[0], resp); command != "box" {
			t.Errorf("%s: %s", fine, resp.Stdout)
		}
	}
}

// A Door without Rewrites replaces no command, and no command is replaced for an unknown agent.
func TestRewritingIsOff(t *testing.T) {
	m := shellCalls()["codex"]
	resp := ask(t, agents.Door{Hooks: &judge{reply: boxed("box")}}, "codex", m.before[0], strings.Replace(m.before[1], "COMMAND", `"ls"`, 1))
	if codexLets("PreToolUse", resp) {
		t.Errorf("%+v", resp)
	}
	if agents.CanRewrite("other", hook.Call{Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)}) || agents.CanRewrite("", hook.Call{}) {
		t.Error("agents that nobody knows cannot")
	}
}

// Cursor reports the command again before it runs. Only the replacement passes without being
// judged; the original is refused.
func TestCursorRunsTheOtherCommandOnly(t *testing.T) {
	shell := func(d agents.Door, command string) bool {
		resp := ask(t, d, "cursor", "beforeShellExecution", `{"hook_event_name":"beforeShellExecution","conversation_id":"s","command":`+quoted(t, command)+`,"cwd":"/"}`)
		return cursorLets("beforeShellExecution", resp)
	}
	m := shellCalls()["cursor"]
	for command, want := range map[string]bool{"box": true, "ls": false, "box ": false} {
		j := &judge{reply: boxed("box")}
		d := agents.Door{Hooks: j, Rewrites: agents.NewRewrites(), Doubles: agents.NewDoubles()}
		ask(t, d, "cursor", m.before[0], strings.Replace(m.before[1], "COMMAND", `"ls"`, 1))
		if got := shell(d, command); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}

// A command in the reply to another event than a call is an internal error, and allows nothing.
func TestACommandAtAnotherPointAllowsNothing(t *testing.T) {
	for _, file := range messages(t) {
		req := message(t, file)
		for _, reply := range []hook.Reply{boxed("box\x00"), boxed(strings.Repeat("x", hook.MaxCommandBytes+1))} {
			resp := agents.Door{Hooks: &judge{reply: reply}, Rewrites: agents.NewRewrites()}.Answer(t.Context(), req)
			if gates(req.Event) && asks(req.Event) && !ofCursor(req.Agent, req.Raw) && !strings.Contains(string(req.Raw), `"tool_call"`) && lets(t, req, resp) {
				t.Errorf("%s: %+v", file, resp)
			}
		}
	}
}

// FuzzQuote checks that a shell splits a quoted command into its original arguments.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", `\`, `\'`, "$HOME `x` $(y) ${z}", "a\nb", "!! ~ * ? [a] {b,c}", "if", "=ls", "x=1", "\u2028é", "#", "'\\''", "\r\n\t"} {
		f.Add("floodmark-box", s, s+s)
		f.Add(s, "--", s)
	}
	f.Fuzz(func(t *testing.T, first, second, third string) {
		argv := []string{first, second, third}
		line, err := agents.Quote(argv)
		if err != nil {
			if !slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, "\x00") || !utf8.ValidString(a) }) {
				t.Errorf("%q: %v", argv, err)
			}
			return
		}
		for i, arg := range argv { // unlike shells, this parser takes CR LF for one line's end
			argv[i] = strings.ReplaceAll(arg, "\r\n", "\n")
		}
		for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn, syntax.LangZsh} {
			got, err := words(line, lang)
			if err != nil || !slices.Equal(got, argv) {
				t.Errorf("%s: %q became %q, %v", lang, argv, got, err)
			}
		}
	})
}

// words returns the words of a line that is one simple command.
func words(line string, lang syntax.LangVariant) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, err
	}
	call, is := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(call.Assigns) > 0 || len(file.Stmts[0].Redirs) > 0 {
		return nil, nil
	}
	return expand.Fields(nil, call.Args...)
}

func TestQuoteNothing(t *testing.T) {
	if line, err := agents.Quote(nil); err == nil {
		t.Errorf("%q", line)
	}
}

// FuzzRewrite checks that for any arguments only the command of a call changes.
func FuzzRewrite(f *testing.F) {
	for _, args := range []string{`{"command":"a"}`, `{"timeout":1e400,"command":"\u0061","description":[{}]}`, `{"command":"a","COMMAND":"b"}`, `{"command":{}}`, ` { "description" : "\ud800" , "command" : "" } `, `{"":"","command":"x"}`} {
		f.Add([]byte(args), "box -- 'a'")
	}
	f.Fuzz(func(t *testing.T, args []byte, command string) {
		if command == "" || !json.Valid(args) || boxed(command).Check(hook.BeforeToolCall) != nil {
			return
		}
		j := &judge{reply: boxed(command)}
		raw := `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"1","tool_name":"Bash","tool_input":` + string(args) + `}`
		resp := ask(t, agents.Door{Hooks: j, Rewrites: agents.NewRewrites()}, "claude-code", "PreToolUse", raw)
		if !claudeLets("PreToolUse", resp) {
			return
		}
		got, _ := replacement(t, "claude-code", resp)
		var before, after map[string]json.RawMessage
		if json.Unmarshal(args, &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("%s became %s", args, got)
		}
		var is string
		if json.Unmarshal(after["command"], &is) != nil || is != command {
			t.Errorf("the command became %s, want %q", after["command"], command)
		}
		delete(before, "command")
		delete(after, "command")
		same := func(a, b json.RawMessage) bool { return compacted(a) == compacted(b) }
		if !cmp.Equal(before, after, cmp.Comparer(same)) {
			t.Errorf("%s became %s", args, got)
		}
	})
}

func compacted(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
