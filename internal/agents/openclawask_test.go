package agents_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
)

const openclaw = "openclaw"

// chats returns a message in which OpenClaw's owner writes in a direct chat.
func chats(before [2]string) [2]string {
	return [2]string{before[0], strings.Replace(before[1], `{`, `{"channelId":"telegram:111","requester":{"channel":"telegram","senderId":"111","senderIsOwner":true},`, 1)}
}

func asksInChat(resp hookframe.Response) bool {
	return resp.Exit == 0 && strings.Contains(resp.Stdout, `"ask":{"title":"floodmark: may exec run?","description":"floodmark: exec `)
}

func openclawDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, openclaw, openclaw)
	d.speech.before = chats(d.speech.before)
	d.read()
	return d
}

// ended returns our shim's message about the end of a question.
func ended(decision string) [2]string {
	return [2]string{"approval_ended", `{"sessionKey":"s","sessionId":"s","toolName":"exec","args":{"command":TEXT},"toolCallId":CALL,"decision":"` + decision + `"}`}
}

// If that is enabled, OpenClaw asks in the chat. The result proves the owner's approval. A shim
// that cannot ask blocks the call.
func TestOpenclawAsksInTheChat(t *testing.T) {
	d := openclawDesk(t)
	runs, resp := d.runs(outward, "c2")
	if runs || !asksInChat(resp) || !strings.Contains(resp.Stdout, `"block":true,"reason":"floodmark: `) {
		t.Fatalf("%v %+v", runs, resp)
	}
	d.shown()
	if _, resp := d.says(ended("allow-once"), outward, "c2", ""); resp.Exit != 0 || len(d.answers()) > 0 {
		t.Errorf("only the result says yes: %+v, %v", resp, d.answers())
	}
	said := [2]string{"reply_payload_sending", `{"sessionKey":"s","sessionId":"s","trigger":"user","channel":"telegram","chatId":"111","senderId":"111","senderIsOwner":true,"isGroup":false,"here":true,"more":true,"text":"I wait for you."}`}
	if d.says(said, outward, "c2", ""); len(d.answers()) > 0 {
		t.Errorf("what the agent says meanwhile answers nothing: %v", d.answers())
	}
	if resp := d.gave(outward, "c2", "thanks"); resp.Stdout != `{"keep":true}` {
		t.Errorf("the result: %+v", resp)
	}
	if got := d.answers(); !slices.Equal(got, []string{"allow window of openclaw"}) || len(d.incidents()) > 0 || d.unread() > 0 {
		t.Errorf("answers %v, incidents %v, unread %d", got, d.incidents(), d.unread())
	}
	if _, resp := d.runs(orders, "c4"); asksInChat(resp) {
		t.Errorf("what is refused is not asked about: %+v", resp)
	}
	d.secretive()
}

// A denial in the chat closes the question, and adds no source to the session. If the call runs
// anyway, that is an incident.
func TestOpenclawSaysNoInTheChat(t *testing.T) {
	d := openclawDesk(t)
	d.runs(outward, "c2")
	d.shown()
	if _, resp := d.says(ended("deny"), outward, "c9", ""); resp.Exit != 0 || len(d.answers()) > 0 {
		t.Errorf("news of another call closed it: %+v, %v", resp, d.answers())
	}
	if _, resp := d.says(ended("deny"), outward, "c2", ""); resp.Exit != 0 {
		t.Errorf("%+v", resp)
	}
	if got := d.answers(); !slices.Equal(got, []string{"restrict window of openclaw"}) || len(d.incidents()) > 0 || d.unread() > 0 {
		t.Errorf("answers %v, incidents %v, unread %d", got, d.incidents(), d.unread())
	}
	if _, resp := d.says(ended("deny"), outward, "c2", ""); resp.Exit != 0 || len(d.answers()) != 1 {
		t.Errorf("it is closed already: %+v", resp)
	}
	d.gave(outward, "c2", "thanks")
	if got := d.incidents(); len(got) != 1 {
		t.Errorf("incidents %v", got)
	}
}

// A timeout is no denial. The question can be answered elsewhere, and the call is asked about again
// when it is repeated.
func TestOpenclawQuestionInTheChatTimesOut(t *testing.T) {
	for _, decision := range []string{"timeout", "cancelled", ""} {
		d := openclawDesk(t)
		d.runs(outward, "c2")
		d.shown()
		if _, resp := d.says(ended(decision), outward, "c2", ""); resp.Exit != 0 {
			t.Errorf("%q: %+v", decision, resp)
		}
		if runs, resp := d.runs("ls", "c3"); !runs {
			t.Errorf("%q: %+v", decision, resp)
		}
		if len(d.answers()) > 0 || len(d.incidents()) > 0 || d.unread() > 0 {
			t.Errorf("%q: answers %v, incidents %v, unread %d", decision, d.answers(), d.incidents(), d.unread())
		}
		if runs, _ := d.runs(outward, "c4"); runs {
			t.Errorf("%q: it runs", decision)
		}
	}
}

// The question is asked in the chat only if the owner is alone with the agent.
func TestOpenclawAsksTheOwnerAlone(t *testing.T) {
	for name, change := range map[string][2]string{
		"somebody else":         {`"senderIsOwner":true`, `"senderIsOwner":false`},
		"a group":               {`"telegram:111"`, `"telegram:-100500"`},
		"no place":              {`"telegram:111"`, `""`},
		"no channel":            {`"channel":"telegram"`, `"channel":""`},
		"no sender":             {`"senderId":"111"`, `"senderId":""`},
		"nobody, and nowhere":   {`"telegram:111","requester":{"channel":"telegram","senderId":"111"`, `":","requester":{"channel":"","senderId":""`},
		"a sub-agent":           {`"sessionKey":"s"`, `"sessionKey":"agent:main:subagent:s"`},
		"a call without a name": {`"toolCallId":CALL`, `"toolCallId":""`},
	} {
		d := openclawDesk(t)
		d.speech.before[1] = strings.Replace(d.speech.before[1], change[0], change[1], 1)
		if runs, resp := d.runs(outward, "c2"); runs || asksInChat(resp) {
			t.Errorf("%s: %+v", name, resp)
		}
	}
	d := newDesk(t, openclaw) // not switched on
	d.speech.before = chats(d.speech.before)
	d.read()
	if runs, resp := d.runs(outward, "c2"); runs || asksInChat(resp) {
		t.Errorf("%+v", resp)
	}
	if _, resp := d.says(ended("deny"), outward, "c2", ""); resp.Exit != 0 || len(d.answers()) > 0 {
		t.Errorf("our own question was closed: %+v", resp)
	}
}

// A question fits OpenClaw's limit.
func TestOpenclawQuestionFits(t *testing.T) {
	d := openclawDesk(t)
	_, resp := d.runs(outward+"?"+strings.Repeat("ä", 2000), "c2")
	_, rest, ok := strings.Cut(resp.Stdout, `"description":"`)
	if n := utf8.RuneCountInString(strings.TrimSuffix(rest, `"}}`)); !ok || n > 530 { // some characters are escaped with a backslash
		t.Errorf("%d: %s", n, resp.Stdout)
	}
}

// If a denial cannot be recorded, the question stays open and the session does not continue.
func TestOpenclawNoIsLost(t *testing.T) {
	d := openclawDesk(t)
	d.door.Native = agents.NewNative([]string{openclaw}, func(context.Context, journal.Session, floodmark.TicketID, floodmark.Verdict, string) error {
		return errors.New("disk full")
	})
	d.runs(outward, "c2")
	if _, resp := d.says(ended("deny"), outward, "c2", ""); resp.Exit == 0 || !strings.Contains(resp.Stderr, "disk full") {
		t.Errorf("%+v", resp)
	}
	if ok, resp := d.runs("ls", "c3"); ok || !strings.Contains(resp.Stdout, "disk full") {
		t.Errorf("%+v", resp)
	}
}

// OpenClaw numbers inner calls for a whole run. The shim reports their ids, and only an id derived
// from this call is used.
func TestOpenclawCallsInsideAreKnownAgain(t *testing.T) {
	for name, c := range map[string]struct{ outer, inner, want string }{
		"the first, by itself": {"c1", `null`, "tool_search_code:c1:web_fetch:1"},
		"the second":           {"c2", `["tool_search_code:c1:web_fetch:1","tool_search_code:c2:web_fetch:2"]`, "tool_search_code:c2:web_fetch:2"},
		"the name comes again": {"c1", `["tool_search_code:c1:web_fetch:1","tool_search_code:c1:web_fetch:12"]`, "tool_search_code:c1:web_fetch:12"},
		"another tool's":       {"c1", `["tool_search_code:c1:exec:2"]`, "tool_search_code:c1:web_fetch:1"},
		"a longer name":        {"c1", `["tool_search_code:c1:web_fetch:2:web_fetch:3"]`, "tool_search_code:c1:web_fetch:1"},
		"no number":            {"c1", `["tool_search_code:c1:web_fetch:"]`, "tool_search_code:c1:web_fetch:1"},
		"what OpenClaw cleans": {" c/1 ", `["tool_search_code:c_1:web_fetch:4"]`, "tool_search_code:c_1:web_fetch:4"},
		"what OpenClaw cuts":   {strings.Repeat("x", 121), `["tool_search_code:` + strings.Repeat("x", 120) + `:web_fetch:5"]`, "tool_search_code:" + strings.Repeat("x", 120) + ":web_fetch:5"},
		"what OpenClaw leaves": {strings.Repeat("x", 120), `[]`, "tool_search_code:" + strings.Repeat("x", 120) + ":web_fetch:1"},
	} {
		j := &judge{reply: allowed()}
		ask(t, agents.Door{Hooks: j}, openclaw, "tool_result", `{"sessionKey":"k","sessionId":"s","toolName":"tool_call","toolCallId":"`+c.outer+`","inner":`+c.inner+`,"args":{"id":"web_fetch","args":{}},"result":[]}`)
		if len(j.saw) != 1 || string(j.saw[0].Call.ID) != c.want {
			t.Errorf("%s: %+v", name, j.saw)
		}
	}
}

// A question in the chat has the same text as in every other channel, in lines, within OpenClaw's
// limit.
func TestOpenclawQuestionInWords(t *testing.T) {
	long := strings.Repeat("ä", 400)
	for name, c := range map[string]struct {
		words func(most int) string
		want  string
	}{
		"lines":        {func(int) string { return "a wants x\n   from \x1b[2J“y”" }, `"description":"a wants x\n   from [2J“y”"`},
		"too long":     {func(most int) string { return long[:min(len(long), 2*most)] }, `"description":"` + strings.Repeat("ä", 256) + `"`},
		"nothing":      {func(int) string { return "" }, `"description":"floodmark: `},
		"never enough": {func(int) string { return long }, `"description":"floodmark: `},
	} {
		d := openclawDesk(t)
		d.door.Native.Words = func(s floodmark.SessionID, ticket floodmark.TicketID, most int) string {
			if s == "" || ticket == "" {
				t.Errorf("%s: asked for %q, %q", name, s, ticket)
			}
			return c.words(most)
		}
		if _, resp := d.runs(outward, "c2"); !strings.Contains(resp.Stdout, c.want) {
			t.Errorf("%s: %s", name, resp.Stdout)
		}
	}
}
