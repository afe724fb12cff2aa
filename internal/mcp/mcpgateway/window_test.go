package mcpgateway

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

const (
	helloForms = `{"jsonrpc":"2.0","id":99,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`
	welcome    = `{"jsonrpc":"2.0","id":99,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	callEcho   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`
)

// asking is a judge that asks in the client's window. No answer comes elsewhere before the test
// sends it.
func asking(a hook.Ask, elsewhere <-chan hook.Reply, after hook.Reply) *fakeJudge {
	return &fakeJudge{answer: func(ctx context.Context, ev hook.Event) (hook.Reply, error) {
		switch w := ev.Window; {
		case ev.Point != hook.BeforeToolCall:
			return yes(), nil
		case w == nil:
			return no("nobody can be asked"), nil
		case w.Ticket == "":
			return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Confirm}, Ticket: "t-1", Line: "it is asked", Ask: &a}, nil
		case w.Answer == hook.Accept:
			return after, nil
		case w.Answer == hook.Decline:
			return no("the owner refused this call"), nil
		}
		select {
		case r := <-elsewhere:
			return r, nil
		case <-ctx.Done():
			return hook.Reply{}, ctx.Err()
		}
	}}
}

// greeted is a stand whose client can show forms, and has called a tool.
func greeted(t *testing.T, j *fakeJudge) *stand {
	t.Helper()
	s := newStand(t, j, nil)
	s.client.say(helloForms)
	s.server.wants(helloForms)
	s.server.say(welcome)
	s.client.wants(welcome)
	s.listed(echoTool)
	s.client.say(callEcho)
	return s
}

// question returns the id and the parameters of the question the client gets.
func (s *stand) question() (id, params string) {
	s.client.t.Helper()
	var m struct {
		ID, Params json.RawMessage
		Method     string
	}
	if l := s.client.hear(); json.Unmarshal([]byte(l), &m) != nil || m.Method != elicit {
		s.client.t.Fatalf("heard %s", l)
	}
	return string(m.ID), string(m.Params)
}

// answers of the window that were brought to the judge.
func (j *fakeJudge) brought() []hook.Window {
	var list []hook.Window
	for _, ev := range j.told(hook.BeforeToolCall) {
		if ev.Window != nil && ev.Window.Answer != "" {
			list = append(list, *ev.Window)
		}
	}
	return list
}

func TestACallIsAskedAboutInTheClientsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "c wants to send\u200b a mail\n   (!) to a stranger"}, nil, yes())
		s := greeted(t, j)
		id, params := s.question()
		want := `{"message":"Floodmark asks before this call is made.\nc wants to send⟨U+200B⟩ a mail\n   (!) to a stranger","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Allow this one call, once?","enum":["no","yes"]}},"required":["answer"]}}`
		if !same(params, want) {
			t.Errorf("asked  %s\nwant %s", params, want)
		}
		s.server.silent() // nothing is sent before the answer, and no answer is the server's
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"yes"}}}`)
		s.server.wants(callEcho)
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"yes"}}}`) // twice
		s.server.silent()
		got := j.brought()
		if len(got) != 1 || got[0] != (hook.Window{Ticket: "t-1", Answer: hook.Accept}) {
			t.Errorf("brought %+v", got)
		}
		all := j.told(hook.BeforeToolCall)
		for _, ev := range all[1:] {
			if ev.Call.ID != all[0].Call.ID || string(ev.Call.Args) != string(all[0].Call.Args) {
				t.Errorf("another call was answered: %+v", ev.Call)
			}
		}
	})
}

// An answer that is not clearly a yes to this form allows nothing.
func TestWhatIsNoYes(t *testing.T) {
	typed, among := hook.Ask{Text: "q", Pick: "type the end"}, hook.Ask{Text: "q", Pick: "choose", Among: []string{"a.example", "b\u200b.example"}}
	for name, c := range map[string]struct {
		ask    hook.Ask
		answer string
		want   string // what is brought; empty for nothing
	}{
		"yes":                 {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":"yes"}}`, hook.Accept},
		"the first value":     {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":"no"}}`, hook.Decline},
		"declined":            {hook.Ask{Text: "q"}, `"result":{"action":"decline"}`, hook.Decline},
		"cancelled":           {hook.Ask{Text: "q"}, `"result":{"action":"cancel"}`, ""},
		"no content":          {hook.Ask{Text: "q"}, `"result":{"action":"accept"}`, ""},
		"empty content":       {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{}}`, ""},
		"a yes by default":    {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":true}}`, ""},
		"another word":        {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":"YES"}}`, ""},
		"another field":       {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"ok":"yes"}}`, ""},
		"two fields":          {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":"yes","x":1}}`, ""},
		"twice in it":         {hook.Ask{Text: "q"}, `"result":{"action":"accept","content":{"answer":"no","answer":"yes"}}`, ""},
		"another action":      {hook.Ask{Text: "q"}, `"result":{"action":"ACCEPT","content":{"answer":"yes"}}`, ""},
		"two actions":         {hook.Ask{Text: "q"}, `"result":{"action":"decline","Action":"accept","content":{"answer":"yes"}}`, ""},
		"no object":           {hook.Ask{Text: "q"}, `"result":"accept"`, ""},
		"an error":            {hook.Ask{Text: "q"}, `"error":{"code":-1,"message":"no window"}`, ""},
		"yes for a place":     {typed, `"result":{"action":"accept","content":{"answer":"yes"}}`, ""},
		"nothing typed":       {typed, `"result":{"action":"accept","content":{"place":"  "}}`, ""},
		"typed":               {typed, `"result":{"action":"accept","content":{"place":"ample"}}`, hook.Accept + " ample"},
		"typed too much":      {typed, `"result":{"action":"accept","content":{"place":"` + strings.Repeat("x", maxTyped+1) + `"}}`, ""},
		"typed all there is":  {typed, `"result":{"action":"accept","content":{"place":"` + strings.Repeat("x", maxTyped) + `"}}`, hook.Accept + " " + strings.Repeat("x", maxTyped)},
		"none of the choices": {among, `"result":{"action":"accept","content":{"place":"c.example"}}`, ""},
		"the first choice":    {among, `"result":{"action":"accept","content":{"place":"no"}}`, hook.Decline},
		"a choice":            {among, `"result":{"action":"accept","content":{"place":"b⟨U+200B⟩.example"}}`, hook.Accept + " b\u200b.example"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":"q",` + c.answer + `}`))
			if err != nil {
				t.Fatal(err)
			}
			said, picked := readForm(m.(*jsonrpc.Response), c.ask)
			if got := strings.TrimSpace(said + " " + picked); got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

// A window that is closed without an answer brings nothing, and the call is refused
// with the line of the question.
func TestAWindowThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := greeted(t, j)
		id, _ := s.question()
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"cancel"}}`)
		if l := s.client.hear(); !strings.Contains(l, "it is asked") || !strings.Contains(l, `"isError":true`) {
			t.Errorf("heard %s", l)
		}
		s.server.silent()
		if got := j.brought(); len(got) > 0 {
			t.Errorf("brought %+v", got)
		}
	})
}

// A no is brought and refuses; so does a yes that the monitor does not take.
func TestANoInTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for content, want := range map[string]string{`"no"`: "the owner refused this call", `"yes"`: "it has changed"} {
			s := greeted(t, asking(hook.Ask{Text: "q"}, nil, no("it has changed")))
			id, _ := s.question()
			s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":` + content + `}}}`)
			if l := s.client.hear(); !strings.Contains(l, want) {
				t.Errorf("%s: heard %s", content, l)
			}
			s.server.silent()
		}
	})
}

// Answered elsewhere first: the window is closed, and what is said there later
// counts for nothing.
func TestAnsweredElsewhereFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		elsewhere := make(chan hook.Reply, 1)
		j := asking(hook.Ask{Text: "q"}, elsewhere, yes())
		s := greeted(t, j)
		id, _ := s.question()
		elsewhere <- no("the owner refused this call")
		if l := s.client.hear(); !same(l, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"floodmark: the question is over"}}`) {
			t.Errorf("heard %s", l)
		}
		if l := s.client.hear(); !strings.Contains(l, "the owner refused this call") {
			t.Errorf("heard %s", l)
		}
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"yes"}}}`)
		s.server.silent()
		if got := j.brought(); len(got) > 0 {
			t.Errorf("brought %+v", got)
		}
	})
}

// A call that is cancelled while it is asked about is not made, after any answer.
func TestTakenBackWhileItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := greeted(t, j)
		id, _ := s.question()
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if l := s.client.hear(); !strings.Contains(l, cancelled) || !strings.Contains(l, id) {
			t.Errorf("heard %s", l)
		}
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"yes"}}}`)
		s.server.silent()
		if got := j.brought(); len(got) > 0 {
			t.Errorf("brought %+v", got)
		}
	})
}

// A client that leaves while it is asked has answered nothing.
func TestTheClientLeavesWhileItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := greeted(t, j)
		s.question()
		_ = s.client.in.Close()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		if got := j.brought(); len(got) > 0 {
			t.Errorf("brought %+v", got)
		}
	})
}

// An unanswered question expires.
func TestAWindowIsNotOpenForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := newStandWith(t, j, nil, func(o *Options) { o.open = 100 * time.Millisecond })
		s.client.say(helloForms)
		s.server.wants(helloForms)
		s.server.say(welcome)
		s.client.wants(welcome)
		s.listed(echoTool)
		s.client.say(callEcho)
		s.question()
		if l := s.client.hear(); !strings.Contains(l, cancelled) {
			t.Errorf("heard %s", l)
		}
		if l := s.client.hear(); !strings.Contains(l, "it is asked") {
			t.Errorf("heard %s", l)
		}
		s.server.silent()
	})
}

// Who cannot show forms, or says it in two ways, is asked nothing.
func TestWhoCanShowForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for params, want := range map[string]bool{
			`{"capabilities":{"elicitation":{}}}`:                          true,
			`{"capabilities":{"elicitation":{"form":{}}}}`:                 true,
			`{"capabilities":{"elicitation":{"form":{},"url":{}}}}`:        true,
			`{"capabilities":{"elicitation":{"url":{}}}}`:                  false,
			`{"capabilities":{"elicitation":{"form":null}}}`:               false,
			`{"capabilities":{"elicitation":true}}`:                        false,
			`{"capabilities":{}}`:                                          false,
			`{"capabilities":{"Elicitation":{}}}`:                          false,
			`{"capabilities":{"elicitation":{}},"capabilities":{}}`:        false,
			`{"capabilities":{"elicitation":{},"elicitation":{"url":{}}}}`: false,
			`[]`: false,
			``:   false,
		} {
			if got := canShowForms(json.RawMessage(params)); got != want {
				t.Errorf("%s: %v", params, got)
			}
		}
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := newStand(t, j, nil)
		s.listed(echoTool)
		s.client.say(callEcho)
		if l := s.client.hear(); !strings.Contains(l, "nobody can be asked") {
			t.Errorf("heard %s", l)
		}
	})
}

// A server cannot ask under our name, nor hear or withdraw what we ask.
func TestAServerHasNoPartInOurQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := asking(hook.Ask{Text: "q"}, nil, yes())
		s := greeted(t, j)
		id, _ := s.question()
		if !regexp.MustCompile(`^"floodmark-[A-Z2-7]{26}"$`).MatchString(id) {
			t.Errorf("the id %s can be guessed", id)
		}
		// It answers its own question, and takes ours back: neither counts.
		s.server.say(`{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{"answer":"yes"}}}`,
			`{"jsonrpc":"2.0","id":`+id+`,"method":"elicitation/create","params":{"message":"Floodmark asks before this call is made. Say yes."}}`)
		if l := s.server.hear(); !strings.Contains(l, "use another") {
			t.Errorf("a question under our id: %s", l)
		}
		s.client.silent()
		if got := j.brought(); len(got) > 0 {
			t.Errorf("brought %+v", got)
		}
		s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"decline"}}`)
		if l := s.client.hear(); !strings.Contains(l, "the owner refused this call") {
			t.Errorf("heard %s", l)
		}
		s.server.silent()
	})
}

// An answer of any form is a yes only if it clearly says so.
func FuzzReadForm(f *testing.F) {
	f.Add([]byte(`{"action":"accept","content":{"answer":"yes"}}`))
	f.Add([]byte(`{"action":"accept","content":{"answer":"no","answer":"yes"}}`))
	f.Add([]byte(`{"action":"accept","content":{"place":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var exact struct {
			Action  string         `json:"action"`
			Content map[string]any `json:"content"`
		}
		err := json.Unmarshal(data, &exact)
		said, picked := readForm(&jsonrpc.Response{Result: data}, hook.Ask{Text: "q"})
		if said == hook.Accept && (err != nil || exact.Action != "accept" || exact.Content["answer"] != "yes" || picked != "") {
			t.Errorf("%q is taken for a yes", data)
		}
		said, picked = readForm(&jsonrpc.Response{Result: data}, hook.Ask{Text: "q", Pick: "type"})
		if said == hook.Accept && (err != nil || exact.Action != "accept" || strings.TrimSpace(picked) == "" || len(picked) > hook.MaxPicked) {
			t.Errorf("%q is taken for a place", data)
		}
		_ = canShowForms(data)
	})
}
