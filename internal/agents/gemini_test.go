package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents"
)

// Gemini CLI looks in the whole workspace for a file that its edit names by a relative path. It is
// given the path that was judged, which it does not look for; every other argument stays.
func TestAnEditIsOfTheFileThatWasJudged(t *testing.T) {
	message := func(event, tool, folder, input string) string {
		return `{"hook_event_name":"` + event + `","session_id":"s","cwd":"` + folder + `","tool_name":"` + tool + `","tool_input":` + input + `}`
	}
	for _, c := range []struct{ tool, folder, input, judged string }{
		{"replace", "/work", `{"file_path":"settings.json", "new_string":"<&>"}`, `{"file_path":"/work/settings.json", "new_string":"<&>"}`},
		{"replace", "/work", `{"a":1,"file_path":"../.gemini/x"}`, `{"a":1,"file_path":"/.gemini/x"}`},
		{"replace", "/work", `{"file_path":"@AGENTS.md"}`, `{"file_path":"/work/@AGENTS.md"}`},
		{"replace", "/work", `{"file_path":"/work/x"}`, ""},
		{"replace", "/work", `{"file_path":""}`, ""},
		{"replace", "/work", `{"file_path":7}`, ""},
		{"replace", "/work", `{"file_path":"x","file_path":"y"}`, ""},
		{"replace", "/work", `{"path":"x"}`, ""},
		{"replace", "", `{"file_path":"x"}`, ""},
		{"write_file", "/work", `{"file_path":"x"}`, ""},
	} {
		j := &judge{reply: allowed()}
		d := agents.Door{Hooks: j}
		resp := ask(t, d, "gemini-cli", "BeforeTool", message("BeforeTool", c.tool, c.folder, c.input))
		var out struct {
			Specific struct {
				Input json.RawMessage `json:"tool_input"`
			} `json:"hookSpecificOutput"`
		}
		if resp.Stdout != "" && json.Unmarshal([]byte(resp.Stdout), &out) != nil || string(out.Specific.Input) != strings.ReplaceAll(c.judged, " ", "") && string(out.Specific.Input) != c.judged {
			t.Errorf("%s: told %s, want %s", c.input, resp.Stdout, c.judged)
		}
		want := c.judged
		if want == "" {
			want = c.input
		}
		ask(t, d, "gemini-cli", "AfterTool", message("AfterTool", c.tool, c.folder, want))
		ask(t, d, "gemini-cli", "AfterTool", message("AfterTool", c.tool, c.folder, c.input))
		if got := string(j.saw[0].Call.Args); got != want {
			t.Errorf("%s: judged %s, want %s", c.input, got, want)
		}
		for _, after := range j.saw[1:] {
			if after.Call.ID != j.saw[0].Call.ID {
				t.Errorf("%s: the result is of another call", c.input)
			}
		}
		j.reply = refused(floodmark.Restrict, "no", "")
		if resp := ask(t, d, "gemini-cli", "BeforeTool", message("BeforeTool", c.tool, c.folder, c.input)); geminiLets(resp) {
			t.Errorf("%s: a refused edit goes on: %+v", c.input, resp)
		}
	}
	long := message("BeforeTool", "replace", "/work", `{"file_path":"x","new_string":"`+strings.Repeat("x", 300<<10)+`"}`)
	if resp := ask(t, agents.Door{Hooks: &judge{reply: allowed()}}, "gemini-cli", "BeforeTool", long); geminiLets(resp) || !strings.Contains(resp.Stdout, "absolute path") {
		t.Errorf("%+v", resp)
	}
}
