package agents_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
)

// The running agent is named by OpenClaw's gateway, in the key of the session or in a field of its
// own, and never by a message's text.
func TestOpenclawWhichAgent(t *testing.T) {
	type fields = map[string]any
	for name, c := range map[string]struct {
		change fields
		want   string
	}{
		"by its session":            {fields{"agentId": nil}, "openclaw/main"},
		"said beside":               {nil, "openclaw/main"},
		"another":                   {fields{"agentId": "work", "sessionKey": "agent:work:main"}, "openclaw/work"},
		"in other letters":          {fields{"agentId": "Work", "sessionKey": "agent:work:main"}, "openclaw/work"},
		"a session of all":          {fields{"agentId": "work", "sessionKey": "global"}, "openclaw/work"},
		"nobody says":               {fields{"agentId": nil, "sessionKey": "global"}, "openclaw"},
		"two":                       {fields{"agentId": "work"}, ""},
		"no name":                   {fields{"agentId": "../main"}, ""},
		"a long name":               {fields{"agentId": strings.Repeat("x", 65), "sessionKey": "global"}, ""},
		"a key without a name":      {fields{"agentId": nil, "sessionKey": "agent::main"}, "openclaw"},
		"a key with a name of ours": {fields{"agentId": nil, "sessionKey": "agent:a/b:main"}, "openclaw"},
		"somebody writes a name":    {fields{"agentId": nil, "text": "agent:work:main", "prompt": "agentId: work"}, "openclaw/main"},
	} {
		j := &judge{reply: allowed()}
		agents.Door{Hooks: j}.Answer(t.Context(), changed(t, "reply_payload_sending", c.change))
		if got := len(j.saw); got != 1 && c.want != "" || got != 0 && c.want == "" {
			t.Errorf("%s: %d were judged", name, got)
		} else if c.want != "" && j.saw[0].Agent != c.want {
			t.Errorf("%s: %q, want %q", name, j.saw[0].Agent, c.want)
		}
	}
}

// The results of a tool whose author asks for caution are untrusted, also through the wrapper and
// under another name. Nothing else changes.
func TestOpenclawCaution(t *testing.T) {
	type fields = map[string]any
	for name, c := range map[string]struct {
		file   string
		change fields
		want   bool
	}{
		"nothing is marked":  {"before_tool_call", nil, false},
		"marked":             {"before_tool_call", fields{"toolName": "my_reader", "caution": []string{"other", "my_reader"}}, true},
		"its result":         {"tool_result", fields{"toolName": "my_reader", "caution": []string{"my_reader"}}, true},
		"another is":         {"before_tool_call", fields{"toolName": "my_reader", "caution": []string{"my_read"}}, false},
		"behind the wrapper": {"tool_result", fields{"toolName": "tool_call", "args": fields{"id": "my_reader", "args": fields{}}, "caution": []string{"my_reader"}}, true},
		"under another name": {"before_tool_call", fields{"toolName": "exec", "toolKind": "code_mode_exec", "caution": []string{"exec"}}, true},
	} {
		j := &judge{reply: allowed()}
		agents.Door{Hooks: j}.Answer(t.Context(), changed(t, c.file, c.change))
		if len(j.saw) != 1 || (j.saw[0].Call.Hints != nil) != c.want || c.want && *j.saw[0].Call.Hints != (hook.Hints{Trust: "untrusted"}) {
			t.Errorf("%s: %+v", name, j.saw)
		}
	}
}
