package agents_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/policy"
)

// spoken sends a captured message of OpenClaw with some fields changed, and returns the last event
// that the monitor got.
func spoken(t *testing.T, file string, change map[string]any) hook.Event {
	t.Helper()
	req := message(t, "testdata/openclaw.before_agent_run"+file+".json")
	var m map[string]any
	if err := json.Unmarshal(req.Raw, &m); err != nil {
		t.Fatal(err)
	}
	maps.Copy(m, change)
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{reply: allowed()}
	req.Raw = raw
	if resp := (agents.Door{Hooks: j}).Answer(t.Context(), req); resp.Exit != 0 || len(j.saw) == 0 {
		t.Fatalf("%+v", resp)
	}
	return j.saw[len(j.saw)-1]
}

// The origins of messages, for contexts as OpenClaw 2026.9.6 sent them.
func TestOpenclawWhoSpeaks(t *testing.T) {
	p, err := policy.Shipped("assistant")
	if err != nil {
		t.Fatal(err)
	}
	type fields = map[string]any
	itself := fields{"kind": "internal_system"}
	for name, c := range map[string]struct {
		file   string
		change fields
		want   floodmark.Trust
	}{
		"owner at a terminal":              {"", nil, floodmark.Owner},
		"terminal, not said to be owner":   {"", fields{"senderIsOwner": false}, floodmark.Untrusted},
		"owner in a direct chat":           {".direct", nil, floodmark.Owner},
		"owner in a chat of unknown sort":  {".direct", fields{"isGroup": nil}, floodmark.Shared},
		"owner in a group":                 {".group", nil, floodmark.Shared},
		"a group that is said to be none":  {".group", fields{"isGroup": false}, floodmark.Shared},
		"owner in a channel":               {".direct", fields{"sessionKey": "agent:main:discord:channel:7", "channel": "discord"}, floodmark.Shared},
		"owner in a group, in main":        {".group", fields{"sessionKey": "agent:main:main"}, floodmark.Shared},
		"another in a direct chat":         {".direct", fields{"senderIsOwner": false, "senderId": "222"}, floodmark.External},
		"another in a group":               {".group", fields{"senderIsOwner": false, "senderId": "222"}, floodmark.External},
		"webchat without the owner's bit":  {".direct", fields{"channel": "webchat", "senderId": "cli", "senderIsOwner": false}, floodmark.External},
		"nobody":                           {".direct", fields{"senderIsOwner": false, "senderId": ""}, floodmark.Untrusted},
		"an owner without a name":          {".direct", fields{"senderId": ""}, floodmark.Untrusted},
		"webhook":                          {".direct", fields{"trigger": "webhook"}, floodmark.Untrusted},
		"no trigger":                       {"", fields{"trigger": ""}, floodmark.Untrusted},
		"cron as OpenClaw reports it":      {".cron", nil, floodmark.Untrusted},
		"cron, asserted":                   {".cron", fields{"provenance": itself}, floodmark.System},
		"heartbeat, asserted":              {".cron", fields{"trigger": "heartbeat", "provenance": itself}, floodmark.System},
		"heartbeat":                        {".cron", fields{"trigger": "heartbeat"}, floodmark.Untrusted},
		"cron that a session wrote":        {".cron", fields{"provenance": fields{"kind": "internal_system", "originSessionId": "s"}}, floodmark.Untrusted},
		"cron that a tool wrote":           {".cron", fields{"provenance": fields{"kind": "internal_system", "sourceTool": "automations"}}, floodmark.Untrusted},
		"cron for a session":               {".cron", fields{"provenance": fields{"kind": "internal_system", "source": fields{"sessionKey": "k"}}}, floodmark.Untrusted},
		"user turn said to be OpenClaw's":  {"", fields{"provenance": itself}, floodmark.Untrusted},
		"user turn said to be a person's":  {"", fields{"provenance": fields{"kind": "external_user"}}, floodmark.Owner},
		"a sub-agent nobody announced":     {".orphan", fields{"senderIsOwner": true}, floodmark.Untrusted},
		"a sub-agent with an unknown past": {".subagent", fields{"past": true, "senderIsOwner": true}, floodmark.Untrusted},
	} {
		ev := spoken(t, c.file, c.change)
		if got := p.Classify(ev.Origin).Trust; ev.Point != hook.MessageReceived || got != c.want {
			t.Errorf("%s: %s at %s, want %s: %+v", name, ev.Point, got, c.want, ev.Origin)
		}
	}
}

// A job has a name if OpenClaw reports it.
func TestOpenclawNamesJobs(t *testing.T) {
	type fields = map[string]any
	ev := spoken(t, ".cron", fields{"jobId": "nightly", "provenance": fields{"kind": "internal_system"}})
	if want := (floodmark.Origin{Kind: floodmark.FromSystem, Name: "cron", Place: "nightly"}); ev.Origin != want {
		t.Errorf("%+v", ev.Origin)
	}
}

// Several messages are taken as one text only if the prompt is exactly what was sent.
func TestOpenclawTakesNoMoreThanWasSent(t *testing.T) {
	for prompt, foreign := range map[string]bool{"hello": false, "status": false, "hello and <file>": true, "": true} {
		ev := spoken(t, ".direct", map[string]any{"said": []string{"status", "hello"}, "prompt": prompt})
		if got := len(ev.Parts) > 0; got != foreign || foreign && ev.Text != "status\nhello" {
			t.Errorf("%q: %+v", prompt, ev)
		}
	}
}

// Tools are hidden by the names that OpenClaw has for them.
func TestOpenclawHidesTools(t *testing.T) {
	reply := allowed()
	reply.Decision.Hidden = []string{"exec", "everything/echo_a/b"}
	req := message(t, "testdata/openclaw.before_prompt_build.json")
	resp := agents.Door{Hooks: &judge{reply: reply}}.Answer(t.Context(), req)
	if want := `{"hidden":["exec","everything__echo_a/b"]}`; resp.Stdout != want {
		t.Errorf("%s", resp.Stdout)
	}
}

// wraps reports whether a message is about a call around another one. It is not judged, because the
// inner call follows.
func wraps(agent string, raw []byte) bool {
	var m struct {
		Tool string `json:"toolName"`
	}
	return agent == "openclaw" && json.Unmarshal(raw, &m) == nil && m.Tool == "tool_call"
}

// A wrapped call has three reports but is one call: it is asked about once, and its result belongs
// to it.
func TestOpenclawWrappedCallIsOne(t *testing.T) {
	const session = `"sessionKey":"k","sessionId":"s"`
	j := &judge{reply: allowed()}
	d := agents.Door{Hooks: j}
	outer := `{` + session + `,"toolName":"tool_call","toolCallId":"c1","args":{"id":"web_fetch","args":{"url":"https://news.example/"}}`
	if resp := ask(t, d, "openclaw", "before_tool_call", outer+`}`); resp.Stdout != `{"block":false}` || len(j.saw) != 0 {
		t.Errorf("%+v, %+v", resp, j.saw)
	}
	ask(t, d, "openclaw", "before_tool_call", `{`+session+`,"toolName":"web_fetch","toolCallId":"tool_search_code:c1:web_fetch:1","args":{"url":"https://news.example/"}}`)
	ask(t, d, "openclaw", "tool_result", outer+`,"result":[]}`)
	if len(j.saw) != 2 || j.saw[0].Call.ID != j.saw[1].Call.ID || j.saw[0].Call.Name != j.saw[1].Call.Name || string(j.saw[0].Call.Args) != string(j.saw[1].Call.Args) {
		t.Errorf("%+v", j.saw)
	}
}

// The result of a tool behind the wrapper is found unescaped.
func TestOpenclawReadsBehindTheWrapper(t *testing.T) {
	for result, want := range map[string]string{
		`[{"type":"text","text":"{\"a\":\"x\\ny\"}"}]`: "x\ny",
		`[{"type":"text","text":"no JSON"}]`:           "no JSON",
		`"just text"`:                                  "just text",
	} {
		j := &judge{reply: allowed()}
		ask(t, agents.Door{Hooks: j}, "openclaw", "tool_result", `{"sessionKey":"k","sessionId":"s","toolName":"tool_call","args":{"id":"web_fetch","args":{}},"result":`+result+`}`)
		if len(j.saw) != 1 || !strings.Contains(j.saw[0].Result.Text, want) || j.saw[0].Call.Name != "web_fetch" {
			t.Errorf("%s: %+v", result, j.saw)
		}
	}
}
