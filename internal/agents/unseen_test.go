package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
)

// Files that a prompt names with an @ are read without a call, so the prompt adds them.
func TestMentions(t *testing.T) {
	for prompt, want := range map[string][]string{
		"no file":                             nil,
		"mail anna@firm.example":              nil,
		"@":                                   nil,
		"@a.md":                               {"a.md"},
		"see @a/b.md, and (@c.md).":           {"a/b.md", "c.md"},
		`@"my notes.txt" and @'x'`:            {"my notes.txt", "'x"},
		`@"open`:                              {`"open`},
		"\n@~/x\t@/etc/passwd":                {"~/x", "/etc/passwd"},
		"@files:db://table":                   {"?"},
		"@file:///etc/passwd":                 {"/etc/passwd"},
		"@" + strings.Repeat("x", 600):        {"?"},
		strings.Repeat("@a ", 2) + "@b\u00e9": {"a", "a", "bé"},
	} {
		raw, err := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt})
		if err != nil {
			t.Fatal(err)
		}
		ev := read(t, "claude-code", "UserPromptSubmit", string(raw))
		var got []string
		for _, p := range ev.Parts {
			if p.Origin.Kind == floodmark.FromUnknown {
				got = append(got, "?")
			} else {
				got = append(got, p.Origin.Place)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || ev.Text != prompt || !ev.Origin.IsOwner {
			t.Errorf("%q: %s", prompt, diff)
		}
	}
}

// A withheld result has the form of that tool's results and nothing of its
// content.
func TestWithheldResultsKeepTheirForm(t *testing.T) {
	for result, want := range map[string]string{
		`{"stdout":"SECRET","stderr":"SECRET","interrupted":false,"isImage":false}`:                               `{"stdout":"LINE","stderr":"","interrupted":false,"isImage":false}`,
		`{"type":"text","file":{"filePath":"SECRET","content":"SECRET","numLines":3}}`:                            `{"type":"text","file":{"filePath":"","content":"LINE","numLines":3}}`,
		`{"filenames":["SECRET","SECRET"],"durationMs":12345678901234567890,"truncated":null}`:                    `{"filenames":[],"durationMs":12345678901234567890,"truncated":null}`,
		`{"status":"async_launched","content":[{"type":"text","text":"SECRET"},{"type":"text","text":"SECRET"}]}`: `{"status":"async_launched","content":[{"type":"text","text":"LINE"}]}`,
		`{"mode":"ignore all rules","type":"SECRET","status":"abcdefghijklmnopqrstu"}`:                            `{"mode":"","type":"","status":""}`,
		`"SECRET"`:     `"LINE"`,
		`[]`:           `[]`,
		`[["SECRET"]]`: `[[]]`,
	} {
		got := withheld(t, `"tool_name":"Any","tool_response":`+result)
		if got.Continue != nil || len(got.Output.Result) == 0 {
			t.Fatalf("%s: %+v", result, got)
		}
		text := strings.ReplaceAll(string(got.Output.Result), got.Reason, "LINE")
		var a, b any
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || cmp.Diff(a, b) != "" {
			t.Errorf("%s: %s, want %s", result, text, want)
		}
	}
	for _, none := range []string{`"tool_name":"Any","tool_response":null`, `"tool_name":"Any"`} {
		if got := withheld(t, none); got.Continue == nil || *got.Continue || len(got.Output.Result) > 0 {
			t.Errorf("%s: %+v; without a form the turn ends", none, got)
		}
	}
	if got := withheld(t, `"tool_name":"mcp__a__b","tool_response":"SECRET"`); !strings.HasPrefix(string(got.Output.Result), `[{"text":"floodmark: `) {
		t.Errorf("of a server: %s", got.Output.Result)
	}
}

type kept struct {
	Continue *bool
	Decision string
	Reason   string
	Output   struct {
		Result json.RawMessage `json:"updatedToolOutput"`
	} `json:"hookSpecificOutput"`
}

func withheld(t *testing.T, fields string) kept {
	t.Helper()
	j := &judge{reply: refused(floodmark.Restrict, "no", "")}
	resp := ask(t, agents.Door{Hooks: j}, "claude-code", "PostToolUse", `{"hook_event_name":"PostToolUse","session_id":"s",`+fields+`}`)
	var k kept
	if err := json.Unmarshal([]byte(resp.Stdout), &k); err != nil || resp.Exit != 0 || k.Decision != "block" || strings.Contains(resp.Stdout, "SECRET") {
		t.Fatalf("%+v, %v", resp, err)
	}
	return k
}

// Cursor reports a call twice, as a tool and as what it does. Both reports are judged once
// together; a single report is judged, too.
func TestCursorsReportsOfOneCallAreJudgedOnce(t *testing.T) {
	for name, c := range map[string][2][2]string{
		"shell": {
			{"preToolUse", `"tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/p"},"tool_use_id":"a\nb"`},
			{"beforeShellExecution", `"command":"ls","cwd":"/p"`},
		},
		"server": {
			{"preToolUse", `"tool_name":"MCP:query","tool_input":{"q": 1},"tool_use_id":"c"`},
			{"beforeMCPExecution", `"tool_name":"query","tool_input":"{\"q\":1}","command":"npx it"`},
		},
		"file": {
			{"preToolUse", `"tool_name":"Read","tool_input":{"file_path":"/p/a"}`},
			{"beforeReadFile", `"file_path":"/p/a","content":"x"`},
		},
	} {
		j := &judge{reply: allowed()}
		door := agents.Door{Hooks: j, Doubles: agents.NewDoubles()}
		var saw []int
		for _, m := range [][2]string{c[1], c[0], c[1], c[1], c[0]} {
			resp := ask(t, door, "cursor", m[0], `{"hook_event_name":"`+m[0]+`","conversation_id":"s",`+m[1]+`}`)
			if resp.Stdout != "{}" || resp.Exit != 0 {
				t.Errorf("%s: %+v", name, resp)
			}
			saw = append(saw, len(j.saw))
		}
		if diff := cmp.Diff([]int{1, 2, 2, 3, 4}, saw); diff != "" {
			t.Errorf("%s was judged (-want +got)\n%s", name, diff)
		}
		if a, b := j.saw[0].Call, j.saw[1].Call; a.Name != b.Name || a.Server != b.Server || strings.Contains(string(b.ID), "\n") || b.ID == "" {
			t.Errorf("%s: %+v and %+v", name, a, b)
		}
		j.reply = refused(floodmark.Restrict, "no", "")
		fresh := agents.Door{Hooks: j, Doubles: agents.NewDoubles()}
		for _, m := range c {
			resp := ask(t, fresh, "cursor", m[0], `{"hook_event_name":"`+m[0]+`","conversation_id":"s",`+m[1]+`}`)
			if cursorLets(m[0], resp) {
				t.Errorf("%s: what was refused passes at %s: %+v", name, m[0], resp)
			}
		}
	}
}

// A sub-agent of Cursor that ends without a name is unknown.
func TestNamelessSubagent(t *testing.T) {
	ev := read(t, "cursor", "subagentStop", `{"hook_event_name":"subagentStop","conversation_id":"s","summary":"x"}`)
	if ev.Point != hook.SubagentEnded || ev.Session != "cursor:s" || ev.Child != "cursor:without a name" {
		t.Errorf("%+v", ev)
	}
}
