package kernel_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// What a person is shown of an argument.
func TestShown(t *testing.T) {
	for name, c := range map[string]struct{ path, value, want string }{
		"plain":          {"to", "bob@example.com", "bob@example.com"},
		"content":        {"body", "hello", ""},
		"is a secret":    {"key", "hunter2", ""},
		"at length":      {"to", strings.Repeat("x", 120), strings.Repeat("x", 120)},
		"too long":       {"to", strings.Repeat("x", 121), strings.Repeat("x", 80) + "…" + strings.Repeat("x", 40)},
		"cut letter":     {"to", strings.Repeat("x", 79) + "é" + strings.Repeat("x", 60), strings.Repeat("x", 79) + "…" + strings.Repeat("x", 40)},
		"cut at its end": {"to", strings.Repeat("x", 100) + "é" + strings.Repeat("x", 39), strings.Repeat("x", 80) + "…" + strings.Repeat("x", 39)},
		"broken":         {"to", "a\nb\r\nc\rd\te", "a⏎b⏎c⏎d e"},
		"control":        {"to", "a\x00bc\x7f", "abc"},
		"invisible":      {"to", "a\u200bb\u202ec", "abc"},
		"password":       {"smtpPassword", "x", ""},
		"passwd":         {"passwd", "x", ""},
		"secret":         {"my_secret", "x", ""},
		"token":          {"Token", "x", ""},
		"apikey":         {"apikey", "x", ""},
		"api key":        {"API_KEY", "x", ""},
		"credential":     {"credentials", "x", ""},
		"private key":    {"private_key", "x", ""},
		"primary key":    {"primary_key", "x", "x"},
	} {
		d := newDesk(t, "")
		d.owner("hello")
		args, err := json.Marshal(map[string]string{c.path: c.value})
		if err != nil {
			t.Fatal(err)
		}
		if got := decided(t, d.call("mail", string(args))).Action.Arguments[0]; got.Shown != c.want || got.Path != c.path {
			t.Errorf("%s: %s is shown as %q, want %q", name, got.Path, got.Shown, c.want)
		}
	}
}

// A question offers no wider approval for code, nor for what was not shown in full.
func TestPatterns(t *testing.T) {
	long := strconv.Quote(strings.Repeat("x", 121))
	for _, c := range []struct{ server, tool, args, want string }{
		{"", "mail", `{"to":"bob@example.com","body":"x"}`, "mail to=bob@example.com"},
		{"", "mail", `{"to":["a@x.example","b@x.example"],"amount":7}`, "mail to[0]=a@x.example to[1]=b@x.example amount=7"},
		{"", "mail", `{"body":"x"}`, ""},
		{"", "mail", ``, ""},
		{"", "mail", `{"to":` + long + `}`, ""},
		{"", "mail", `{"to":"bob@example.com","key":"x"}`, ""},
		{"", "shell", `{"code":"x"}`, ""},
		{"", "setup", `{"key":"x"}`, ""},
		{"", "odd", `{"x":"y"}`, ""},
		{"hub", "post", `{"x":"y"}`, ""},
		{"", "page", `{"url":"https://Two.example:8080/a?b"}`, "page host=two.example:8080"},
		{"", "page", `{"url":"https://two.example/a","note":"x"}`, "page host=two.example"},
		{"", "page", `{"other":"https://two.example/b","url":"https://three.example/"}`, "page other.host=two.example url=https://three.example/"},
		{"", "page", `{"url":"http://two.example/a"}`, "page host=http://two.example"},
		{"", "page", `{"url":"https://me@two.example/a"}`, ""},
		{"", "mail", `{"to":"a b","body":"x"}`, `mail to="a b"`},
		{"", "mail", `{"to":"a=b"}`, `mail to="a=b"`},
		{"", "mail", `{"to":"7"}`, `mail to="7"`},
		{"", "mail", `{"to":7}`, `mail to=7`},
		{"", "mail", `{"to":"true"}`, `mail to="true"`},
		{"", "mail", `{"to":true}`, `mail to=true`},
		{"", "mail", `{"to":""}`, `mail to=""`},
		{"", "mail", `{"to":"*@x.example"}`, ""},
		{"", "mail", `{"to":"@everyone"}`, ""},
		{"", "mail", `{"to":"everyone@x.example"}`, "mail to=everyone@x.example"},
		{"", "mail", `{"to":"https://x.example/?a"}`, `mail to=https://x.example/?a`},
		{"", "mail", `{"to":"https://x.example/*"}`, ""},
		{"", "page", `{"url":"nowhere"}`, ""},
		{"", "page", `{"url":"https://x.example/%zz"}`, ""},
		{"", "page", `{"note":"x"}`, ""},
	} {
		d := newDesk(t, "rules:\n  - {name: ask, when: 'true', action: {verdict: confirm}}\n")
		d.owner("hello")
		out := d.tell(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c", Server: c.server, Name: c.tool, Args: json.RawMessage(c.args)}})
		opened := kept[floodmark.TicketOpened](out)
		if out.Ask == nil || len(opened) != 1 {
			t.Fatalf("%s %s: nobody was asked: %+v", c.tool, c.args, out.Reply.Decision)
		}
		if out.Ask.Call.Pattern != c.want || opened[0].Shown[0].Pattern != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.args, out.Ask.Call.Pattern, c.want)
		}
	}
}

// Of two addresses, the pattern is about the one that is trusted less.
func TestPatternOfTheWorstAddress(t *testing.T) {
	d := newDesk(t, "rules:\n  - {name: ask, when: 'true', action: {verdict: confirm}}\n")
	d.owner("hello")
	d.apply(floodmark.ContentSeen{Source: floodmark.Source{
		Node: 1, Kind: floodmark.NodeToolResult, Label: floodmark.Label{Trust: floodmark.Shared, Secrecy: floodmark.Public}, Digest: floodmark.DigestOf("two"),
	}}, floodmark.ContentSeen{Source: floodmark.Source{
		Node: 2, Kind: floodmark.NodeToolResult, Label: floodmark.Label{Secrecy: floodmark.Public}, Digest: floodmark.DigestOf("three"),
	}})
	d.index.Add(1, provenance.Key{7}.Postings("see https://two.example/b"))
	d.index.Add(2, provenance.Key{7}.Postings("see https://three.example/c"))
	for args, want := range map[string]string{
		`{"url":"https://two.example/b","other":"https://three.example/c"}`: "page other.host=three.example url=https://two.example/b",
		`{"url":"https://three.example/c","other":"https://two.example/b"}`: "page host=three.example other=https://two.example/b",
	} {
		out := d.call("page", args)
		if out.Ask == nil || out.Ask.Call.Pattern != want {
			t.Errorf("%s: %+v", args, out.Ask)
		}
	}
}

// The digest of arguments is in every journal. The order of keys does not change it; anything else
// does.
func TestArgsDigest(t *testing.T) {
	d := newDesk(t, "")
	d.owner("hello")
	digest := func(args string) floodmark.Digest { return decided(t, d.call("look", args)).Action.ArgsDigest }
	const want = "87af36627562e66dff4d91d8524008e0931d7072048eeb7fe78ae474c779cbf3"
	if got := digest(`{"b":"x","a":1}`).String(); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
	same := digest(`{"b":"x","a":1}`)
	if digest(`{"a":1,"b":"x"}`) != same || digest(` { "a" : 1, "b":"\u0078"}`) != same {
		t.Error("another way of writing it is another call")
	}
	for _, other := range []string{`{"b":"x","a":"1"}`, `{"b":"x","a":2}`, `{"b":"x","c":1}`, `{"b":"xa","":1}`, `{"b":"x"}`, `{}`, `{"b":["x"],"a":1}`} {
		if digest(other) == same {
			t.Errorf("%s is the same call", other)
		}
	}
	if digest(`{"l":["x","y"]}`) == digest(`{"l":["y","x"]}`) {
		t.Error("the order of a list does not count")
	}
}

// A call without an id gets one made from its server, tool and arguments.
func TestCallsWithoutAnID(t *testing.T) {
	id := func(c hook.Call) floodmark.CallID {
		d := newDesk(t, "")
		d.owner("hello")
		return decided(t, d.tell(hook.Event{Point: hook.BeforeToolCall, Call: c})).Action.Call
	}
	if got := id(hook.Call{ID: "c", Name: "look"}); got != "c" {
		t.Errorf("the id is %q", got)
	}
	want := floodmark.CallID("args:" + floodmark.DigestOf("\x00look\x00").Short())
	if got := id(hook.Call{Name: "look"}); got != want {
		t.Errorf("without an id: %q, want %q", got, want)
	}
	seen := map[floodmark.CallID]bool{}
	for _, c := range []hook.Call{{Name: "look"}, {Server: "s", Name: "look"}, {Name: "wall"}, {Name: "look", Args: json.RawMessage(`{"q":1}`)}, {Server: "slook"}} {
		seen[id(c)] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 calls have %d names", len(seen))
	}
}

// A question shows what the approver needs, and is opened once for each call.
func TestQuestions(t *testing.T) {
	d := tainted(t, "")
	out := d.call("mail", `{"to":"bob@example.com"}`)
	opened := kept[floodmark.TicketOpened](out)
	shown := floodmark.Shown{
		Tool: floodmark.ToolRef{Agent: "a", Name: "mail"}, ArgsDigest: decided(t, out).Action.ArgsDigest, Pattern: "mail to=bob@example.com",
		Mark: d.state.Mark(), Codes: []floodmark.Code{floodmark.TaintEscalation}, Node: 2,
	}
	if len(opened) != 1 || len(opened[0].Shown) != 1 || !sameShown(opened[0].Shown[0], shown) || !opened[0].Expires.Equal(d.at.Add(120e9)) {
		t.Errorf("%+v, want %+v", opened, shown)
	}
	if a := out.Ask; a.ID != "t1" || a.Calls != 1 || a.Session != "s" || a.Code != "c0de0001" || a.Call.Line != out.Reply.Line || len(a.Call.Sources) != 1 || a.Call.Sources[0].Node != 1 || !a.Expires.Equal(opened[0].Expires) || out.Reply.Ticket != "t1" {
		t.Errorf("%+v", out.Ask)
	}
	out = d.call("mail", `{"to":"bob@example.com"}`)
	if out.Ask != nil || out.Reply.Ticket != "t1" || kinds(t, out.Facts) != "action-decided" {
		t.Errorf("again: %+v, %s", out.Ask, kinds(t, out.Facts))
	}
	out = d.call("shell", `{"code":"x"}`)
	if out.Ask == nil || out.Ask.ID == "t1" || out.Ask.Calls != 1 || out.Ask.Session != "s" || kinds(t, out.Facts) != "action-decided ticket-opened" || !out.Ask.Expires.Equal(opened[0].Expires) || out.Reply.Ticket != out.Ask.ID {
		t.Errorf("one more: %+v, %s", out.Ask, kinds(t, out.Facts))
	}
	d.reads("look", "", "the owner's own")
	if out = d.call("mail", `{"to":"bob@example.com"}`); out.Ask != nil {
		t.Errorf("after reading the owner's own: %+v", out.Ask)
	}
	d.reads("wall", "", "news")
	if out = d.call("mail", `{"to":"bob@example.com"}`); out.Ask == nil || out.Ask.ID != "t1" || out.Ask.Calls != 1 || kinds(t, out.Facts) != "action-decided ticket-extended" {
		t.Errorf("after news: %+v, %s", out.Ask, kinds(t, out.Facts))
	}
	if out = d.call("mail", `{"to":"bob@example.com"}`); out.Ask != nil {
		t.Errorf("after news, again: %+v", out.Ask)
	}
	d.reads("diary", "", "private")
	if out = d.call("mail", `{"to":"bob@example.com"}`); out.Ask == nil || kinds(t, out.Facts) != "action-decided ticket-extended" {
		t.Errorf("with another mark: %+v, %s", out.Ask, kinds(t, out.Facts))
	}
}

func sameShown(a, b floodmark.Shown) bool {
	return a.Tool == b.Tool && a.ArgsDigest == b.ArgsDigest && a.Pattern == b.Pattern && a.Mark == b.Mark && a.Node == b.Node && len(a.Codes) == len(b.Codes) && a.Codes[0] == b.Codes[0]
}
