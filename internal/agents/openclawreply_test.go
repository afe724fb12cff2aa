package agents_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// changed returns a captured message with some fields changed.
func changed(t *testing.T, file string, change map[string]any) hookframe.Request {
	t.Helper()
	req := message(t, "testdata/openclaw."+file+".json")
	var m map[string]any
	if err := json.Unmarshal(req.Raw, &m); err != nil {
		t.Fatal(err)
	}
	maps.Copy(m, change)
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	req.Raw = raw
	return req
}

// An answer is for the owner alone if it goes to where the owner wrote, and OpenClaw reports the
// owner as the author and the only reader. Any other answer is for others.
func TestOpenclawWhoReads(t *testing.T) {
	type fields = map[string]any
	for name, c := range map[string]struct {
		change fields
		want   hook.Audience
	}{
		"the owner, where he wrote":       {nil, hook.ToOwner},
		"elsewhere":                       {fields{"here": false}, hook.ToOthers},
		"nobody says where":               {fields{"here": nil}, hook.ToOthers},
		"a group":                         {fields{"isGroup": true}, hook.ToOthers},
		"nobody says which chat it is":    {fields{"isGroup": nil}, hook.ToOthers},
		"a group that is said to be none": {fields{"sessionKey": "agent:main:telegram:group:-1"}, hook.ToOthers},
		"somebody else":                   {fields{"senderIsOwner": false, "senderId": "222"}, hook.ToOthers},
		"an owner without a name":         {fields{"senderId": ""}, hook.ToOthers},
		"a job":                           {fields{"trigger": "cron"}, hook.ToOthers},
		"another session's words":         {fields{"provenance": fields{"kind": "inter_session"}}, hook.ToOthers},
		"the terminal, in a chat":         {fields{"channel": "", "senderId": "", "chatId": ""}, hook.ToOthers},
		"a sub-agent":                     {fields{"sessionKey": "agent:main:subagent:1"}, hook.ToOthers},
	} {
		j := &judge{reply: allowed()}
		agents.Door{Hooks: j}.Answer(t.Context(), changed(t, "reply_payload_sending", c.change))
		if len(j.saw) != 1 || j.saw[0].Audience != c.want || j.saw[0].Point != hook.BeforeResponseEmit {
			t.Errorf("%s: %+v, want %q", name, j.saw, c.want)
		}
	}
}

// What is sent of an answer: its text, in which nothing is loaded, and below the last part, for the
// owner only, its sources and what was blocked.
func TestOpenclawAnswers(t *testing.T) {
	type fields = map[string]any
	const footer = "informed by 1 external e-mail; blocked: exec"
	done := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Footer: footer}
	inert := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Text: "[x](http://x.example)"}
	plain := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Footer: "informed by 1 external e-mail"}
	why := fields{"refused": fields{"exec": "a web page named the place"}}
	for name, c := range map[string]struct {
		file   string
		change fields
		judge  judge
		want   string
	}{
		"as it is":          {"", nil, judge{reply: allowed()}, `{"send":true}`},
		"draws on":          {"", nil, judge{reply: plain}, `{"send":true,"text":"Done with this.\n\n(informed by 1 external e-mail)"}`},
		"blocked":           {"", why, judge{reply: done}, `{"send":true,"text":"Done with this.\n\n(⚠️ ` + footer + `; exec because a web page named the place. Details: floodmark why openclaw:agent:main:main#17b0fe7f-ec7f-4000-bd8d-35b0a7cd9c06)"}`},
		"blocked by echo":   {"", fields{"refused": fields{"exec": "no ![p](http://x.example/?d=1) <img src=x>"}}, judge{reply: done}, `{"send":true,"text":"Done with this.\n\n(⚠️ ` + footer + `; exec because no [p](http://x.example/?d=1) ‹img src=x>. Details: floodmark why openclaw:agent:main:main#17b0fe7f-ec7f-4000-bd8d-35b0a7cd9c06)"}`},
		"more to come":      {"", fields{"more": true}, judge{reply: done}, `{"send":true}`},
		"a picture alone":   {"", fields{"text": ""}, judge{reply: done}, `{"send":true}`},
		"others":            {".group", fields{"more": false, "beside": []string{}}, judge{reply: done}, `{"send":true}`},
		"made inert":        {"", nil, judge{reply: inert}, `{"send":true,"text":"[x](http://x.example)"}`},
		"inert, to others":  {".group", nil, judge{reply: inert}, `{"send":true,"text":"[x](http://x.example)","alone":true}`},
		"a file that loads": {"", fields{"loads": []string{" http://x.example/(a b)"}}, judge{reply: inert}, `{"send":true,"text":"[x](http://x.example)","alone":true}`},
		"a file, to others": {".group", fields{"text": "Here.", "files": []string{"key.pem"}}, judge{reply: allowed()}, `{"send":true,"text":"Here.","alone":true}`},
		"a path, to others": {".group", fields{"text": "Here.", "beside": []string{" /home/dev/.ssh/id_rsa"}}, judge{reply: allowed()}, `{"send":true,"text":"Here.","alone":true}`},
		"a file alone":      {".group", fields{"text": "", "beside": []string{`C:\Users\key.pem`}}, judge{reply: allowed()}, `{"send":false,"reason":"floodmark: a file of this machine does not go to others with an answer. Send it by a tool, which is judged."}`},
		"a file, to you":    {"", fields{"files": []string{"key.pem"}, "beside": []string{"/home/dev/key.pem"}}, judge{reply: allowed()}, `{"send":true}`},
		"a button":          {".group", fields{"text": "Yes?", "beside": []string{"Yes", "yes/no"}}, judge{reply: allowed()}, `{"send":true}`},
		"nobody judges":     {".group", nil, judge{err: errors.New("gone")}, `{"send":false,"reason":"floodmark: this could not be judged, so it is not allowed: gone."}`},
		"nor the owner's":   {"", fields{"text": "![x](y) <img>"}, judge{err: errors.New("gone")}, `{"send":true,"text":"[x](y) ‹img>\n\n(floodmark: this could not be judged, so it is not allowed: gone.)"}`},
	} {
		resp := agents.Door{Hooks: &c.judge}.Answer(t.Context(), changed(t, "reply_payload_sending"+c.file, c.change))
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(json.RawMessage(resp.Stdout)); err != nil || strings.TrimSpace(b.String()) != c.want || resp.Exit != 0 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, b.String(), c.want)
		}
	}
	reply := refused(floodmark.Restrict, "no", "")
	reply.Decision.Reasons = []floodmark.Reason{{Text: "it\nis far"}, {Text: "it is late"}}
	if resp := (agents.Door{Hooks: &judge{reply: reply}}).Answer(t.Context(), message(t, "testdata/openclaw.before_tool_call.json")); !strings.Contains(resp.Stdout, `"why":"it is far"`) {
		t.Errorf("%s", resp.Stdout)
	}
}

// A file that would be loaded from an address is judged as an image of it, and cannot be mistaken
// for another one.
func TestOpenclawFilesThatLoad(t *testing.T) {
	j := &judge{reply: allowed()}
	agents.Door{Hooks: j}.Answer(t.Context(), changed(t, "reply_payload_sending", map[string]any{
		"loads": []string{"https://x.example/a.png", "http://x.example/a) ![b](http://y.example"}, "beside": []string{"/home/dev/a.png"},
	}))
	if want := "Done with this.\n\n![file](https://x.example/a.png)\n\n![file](http://x.example/a%29%20!%5Bb%5D%28http://y.example)"; len(j.saw) != 1 || j.saw[0].Text != want {
		t.Errorf("%+v", j.saw)
	}
}

// Text that is only for the owner is not sent to a group.
func TestOpenclawTellsNoGroup(t *testing.T) {
	reply := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Consumed: true, Notice: "Open questions: 1."}
	for file, told := range map[string]bool{"before_agent_run": true, "before_agent_run.direct": true, "before_agent_run.group": false} {
		resp := agents.Door{Hooks: &judge{reply: reply}}.Answer(t.Context(), message(t, "testdata/openclaw."+file+".json"))
		if strings.Contains(resp.Stdout, reply.Notice) != told || !strings.Contains(resp.Stdout, `"handled"`) {
			t.Errorf("%s: %s", file, resp.Stdout)
		}
	}
}
