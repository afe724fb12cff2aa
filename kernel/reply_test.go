package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

// How an answer with links that would load by themselves goes out. Empty: it goes out as it is.
func TestInertReplies(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                  "",
		"a [link](https://x.example/)":           "",
		"![a](https://x.example/1)":              "[a](https://x.example/1)",
		"b ![a](https://x.example/1) c":          "b [a](https://x.example/1) c",
		"![](x)![](y)":                           "[](x)[](y)",
		"![a](https://one.example/a)":            "",
		"![a](<https://one.example/a>)":          "",
		"![a]( https://one.example/a \"title\")": "",
		"![a](https://one.example/b)":            "[a](https://one.example/b)",
		"![a](https://one.example/a) ![b](z)":    "![a](https://one.example/a) [b](z)",
		"![a]()":                                 "[a]()",
		"![a](https://x.example/1":               "[a](https://x.example/1",
		"![a][ref] end":                          "[a][ref] end",
		"![":                                     "[",
		"x ![a] ![b]":                            "x [a] [b]",
		"![a] and ![b](u)":                       "[a] and [b](u)",
		"![![x](y)](https://x.example/1)":        "[[x](y)](https://x.example/1)",
		"!![a](z) !!![b][r]":                     "[a](z) [b][r]",
		"!![a](https://one.example/a)!![b](z)":   "!![a](https://one.example/a)[b](z)",
		"![![x](https://one.example/a)](z)":      "[![x](https://one.example/a)](z)",
		"![x][r] [y](https://one.example/a)":     "[x][r] [y](https://one.example/a)",
		"<img src=x>":                            "&lt;img src=x>",
		"a <IMG src=x> b":                        "a &lt;IMG src=x> b",
		"<div style=background:url(x)>":          "&lt;div style=background:url(x)>",
		"<image href=x>":                         "&lt;image href=x>",
		"<!--x-->":                               "&lt;!--x-->",
		"<h1 class=x>":                           "&lt;h1 class=x>",
		"List<String> a = b; m<k, v>()":          "",
		"<im":                                    "&lt;im",
		"a < b <b>bold</b>":                      "",
		"<":                                      "",
		"<svg":                                   "&lt;svg",
		"<img src=x":                             "&lt;img src=x",
	} {
		d := tainted(t, "")
		if got := d.reply(text, hook.ToOwner); got.Text != want || got.Decision.Verdict != floodmark.Allow {
			t.Errorf("%q became %q, want %q", text, got.Text, want)
		}
		if again := d.reply(want, hook.ToOwner).Text; again != "" {
			t.Errorf("%q, already made inert, became %q", want, again)
		}
	}
	for _, tag := range []string{"iframe", "frame", "link", "script", "embed", "object", "svg", "Style", "meta", "base"} {
		if got := tainted(t, "").reply("<"+tag+" x>", hook.ToOwner).Text; got != "&lt;"+tag+" x>" {
			t.Errorf("<%s> became %q", tag, got)
		}
	}
}

// A picture whose link the owner stated is left alone up to the limit for pictures, and made inert
// beyond.
func TestLongPicture(t *testing.T) {
	for size, inert := range map[int]bool{2048: false, 2049: true} {
		head, tail := "![", "](https://one.example/a)"
		text := head + strings.Repeat("x", size-len(head)-len(tail)) + tail
		if got := tainted(t, "").reply(text, hook.ToOwner).Text; (got != "") != inert {
			t.Errorf("%d bytes: %.20q", size, got)
		}
	}
}

// An element whose end is not found within the limit for elements is made inert.
func TestLongElement(t *testing.T) {
	for size, inert := range map[int]bool{4095: false, 4096: true, 6000: true} {
		text := "<b" + strings.Repeat(" ", size-2) + ">"
		if got := tainted(t, "").reply(text, hook.ToOwner).Text; (got != "") != inert {
			t.Errorf("an end behind %d bytes: %.20q", size, got)
		}
	}
}

// Pictures are left alone down to Local, and made inert below it.
func TestInertBelowLocal(t *testing.T) {
	for tool, inert := range map[string]bool{"look": false, "wall": true} {
		d := newDesk(t, "")
		d.owner("hello")
		d.reads(tool, "", "text")
		if got := d.reply("![a](u)", hook.ToOwner).Text != ""; got != inert {
			t.Errorf("after %s: inert = %v", tool, got)
		}
	}
}

// The footer says what an answer draws on, and what was held back.
func TestFooter(t *testing.T) {
	label := floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Internal}
	tool := func(name string) floodmark.Origin { return floodmark.Origin{Kind: floodmark.FromTool, Name: name} }
	for name, c := range map[string]struct {
		origins []floodmark.Origin
		want    string
	}{
		"nothing":   {nil, ""},
		"one":       {[]floodmark.Origin{tool("get_mail")}, "informed by 1 external e-mail"},
		"two":       {[]floodmark.Origin{tool("get_mail"), tool("Gmail")}, "informed by 2 external e-mails"},
		"two sorts": {[]floodmark.Origin{tool("get_mail"), tool("vestige_x")}, "informed by 1 external e-mail and 1 external memory"},
		"three":     {[]floodmark.Origin{tool("memory"), tool("memory2"), tool("web_get"), tool("calendar")}, "informed by 2 external memories, 1 external web page and 1 external calendar entry"},
		"pages":     {[]floodmark.Origin{tool("web"), tool("fetch"), tool("browser"), tool("search"), tool("url_get")}, "informed by 5 external web pages"},
		"entries":   {[]floodmark.Origin{tool("calendar"), tool("calendar")}, "informed by 2 external calendar entries"},
		"files":     {[]floodmark.Origin{tool("read"), tool("file_get"), {Kind: floodmark.FromFile, Name: "x"}}, "informed by 3 external files"},
		"results":   {[]floodmark.Origin{tool("odd"), tool("odd"), tool("more")}, "informed by 2 external results of odd and 1 external result of more"},
		"messages":  {[]floodmark.Origin{{Kind: floodmark.FromSender, Name: "mail"}}, "informed by 1 external message"},
		"children":  {[]floodmark.Origin{{Kind: floodmark.FromChild, Name: "mail"}}, "informed by 1 external sub-agent result"},
		"pastes":    {[]floodmark.Origin{{Kind: floodmark.FromPaste}}, "informed by 1 external pasted text"},
		"sources":   {[]floodmark.Origin{{Kind: floodmark.FromQuote}, {Kind: floodmark.FromDefinition}}, "informed by 2 external sources"},
	} {
		d := newDesk(t, "")
		for i, o := range c.origins {
			d.apply(floodmark.ContentSeen{Source: floodmark.Source{Node: floodmark.NodeID(i), Kind: floodmark.NodeInput, Origin: o, Label: label}})
		}
		if got := d.reply("text", hook.ToOwner).Footer; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The footer counts live sources at Shared or below, the least trusted first, and no summaries.
func TestFooterCounts(t *testing.T) {
	d := newDesk(t, "")
	d.owner("Look at https://one.example/a")
	d.reads("look", "", "local")
	d.reads("wall", "", "shared")
	if got := d.reply("text", hook.ToOwner).Footer; got != "" {
		t.Errorf("at shared: %q", got)
	}
	d.owner("go on")
	d.reads("inbox", "", "a mail")
	d.reads("page", `{"url":"https://one.example/a"}`, "a page")
	d.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Compact, Text: "a summary"})
	const drawn = "informed by 1 untrusted result of page, 1 external result of inbox and 1 shared result of wall"
	if got := d.reply("text", hook.ToOwner).Footer; got != drawn {
		t.Errorf("below shared: %q", got)
	}
	d.owner("go on")
	d.call("shell", `{"code":"1"}`)
	d.call("mail", `{"to":"x@x.example"}`)
	d.call("shell", `{"code":"2"}`)
	if got := d.reply("text", hook.ToOwner).Footer; got != drawn+"; blocked: mail, shell, see «floodmark why»" {
		t.Errorf("with refusals: %q", got)
	}
	d.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Clear, ByPerson: true})
	d.apply(floodmark.ContentSeen{Source: floodmark.Source{Node: floodmark.NodeID(d.state.Ledger.Len()), Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromQuote}}})
	if got := d.reply("text", hook.ToOwner).Footer; got != "informed by 1 untrusted source" {
		t.Errorf("after a cleared context: %q", got)
	}
}

// An answer to others is a send. It waits for an approval of exactly this answer.
func TestReplyToOthers(t *testing.T) {
	d := tainted(t, "")
	out := d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "It opens at nine."})
	got := decided(t, out)
	if got.Action.Kind != floodmark.SendReply || got.Action.Tool != (floodmark.ToolRef{Agent: "a", Name: "reply"}) || got.Action.ArgsDigest != floodmark.DigestOf("It opens at nine.") {
		t.Errorf("%+v", got.Action)
	}
	if out.Reply.Decision.Verdict != floodmark.Confirm || out.Ask == nil || !d.state.InTurn || !strings.HasPrefix(out.Reply.Line, "page one.example (untrusted) -> reply: waits for your approval because ") {
		t.Errorf("%+v", out.Reply)
	}
	d.answer(approval.Command{Verb: approval.Approve, Tool: "all", Ticket: d.ticket})
	out = d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "It opens at nine."})
	if used := kept[floodmark.GrantUsed](out); out.Reply.Decision.Verdict != floodmark.Allow || d.state.InTurn || len(used) != 1 || used[0].Ticket != "t1" || out.Reply.Line != "" {
		t.Errorf("approved: %+v", out.Reply)
	}
	d = newDesk(t, "")
	d.owner("hello")
	out = d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "hi"})
	if out.Reply.Decision.Verdict != floodmark.Allow || out.Reply.Line != "" || out.Ask != nil || d.state.InTurn || out.Reply.Footer != "" {
		t.Errorf("a clean answer: %+v", out.Reply)
	}
}

// What an agent says while it works ends no turn: its rounds are counted on, and what was refused
// is named at the end. Elsewhere the word has no meaning.
func TestReplyInBetween(t *testing.T) {
	d := newDesk(t, "")
	d.owner("hello")
	for _, to := range []hook.Audience{hook.ToOwner, hook.ToOthers} {
		if out := d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "I look.", Audience: to, More: true}); out.Reply.Decision.Verdict != floodmark.Allow || !d.state.InTurn {
			t.Errorf("%q: %+v, in a turn: %v", to, out.Reply, d.state.InTurn)
		}
	}
	if d.tell(hook.Event{Point: hook.SessionEnd, More: true}); d.state.InTurn {
		t.Error("the session has ended, and its turn goes on")
	}
	d.owner("again")
	if d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "Done.", Audience: hook.ToOwner}); d.state.InTurn {
		t.Error("after the answer the turn goes on")
	}
}

// The secret itself never goes to others, a private number is asked about, and
// an auditor is not shown an answer.
func TestReplyToOthersWithData(t *testing.T) {
	for name, c := range map[string]struct {
		policy, tool, read, text string
		verdict                  floodmark.Verdict
		code                     floodmark.Code
	}{
		"secret":       {"", "vault", "kJ8s7d6f5g4h3j2k1l0z9x8c7v6b5n4m", "take kJ8s7d6f5g4h3j2k1l0z9x8c7v6b5n4m", floodmark.Restrict, floodmark.FlowSecret},
		"near one":     {"", "vault", "kJ8s7d6f5g4h3j2k1l0z9x8c7v6b5n4m", "take it", floodmark.Confirm, floodmark.FlowSecret},
		"private":      {"", "diary", "my number is 4711-0815", "take it", floodmark.Confirm, floodmark.FlowPrivate},
		"an auditor":   {audited, "wall", "friends", "take it", floodmark.Confirm, floodmark.TaintEscalation},
		"only watched": {"profile: dry-run\n", "diary", "my number", "take it", floodmark.Allow, floodmark.DryRun},
	} {
		d := tainted(t, c.policy)
		if c.policy == audited {
			d = newDesk(t, c.policy)
			d.owner("hello")
		}
		d.reads(c.tool, "", c.read)
		got := d.reply(c.text, hook.ToOthers)
		if got.Decision.Verdict != c.verdict || got.Decision.Reasons[0].Code != c.code || (got.Line != "") != (c.verdict != floodmark.Allow) {
			t.Errorf("%s: %+v", name, got)
		}
		if c.verdict == floodmark.Confirm && !strings.HasPrefix(got.Decision.Remedy.Person, "Approve it") {
			t.Errorf("%s: %+v", name, got.Decision.Remedy)
		}
		if d.state.InTurn != (c.verdict == floodmark.Confirm) {
			t.Errorf("%s: the turn is open: %v", name, d.state.InTurn)
		}
	}
}

// The content kept of a session names every node a fact places.
func TestPlaced(t *testing.T) {
	one := floodmark.Source{Node: 1, Digest: floodmark.DigestOf("1")}
	two := floodmark.Source{Node: 2, Digest: floodmark.DigestOf("2")}
	list := []floodmark.Source{one, {Node: 9}, two}
	for want, f := range map[string]floodmark.Fact{
		"1":    floodmark.ContentSeen{Source: one},
		"2":    floodmark.ContentArrived{Node: 2, Digest: two.Digest},
		"1 2":  floodmark.SessionForked{Sources: list},
		"1 2 ": floodmark.ChildEnded{Sources: list},
		"":     floodmark.ContentSeen{},
		" ":    floodmark.TurnOpened{},
	} {
		if got := placed(f, 9); got != strings.TrimSpace(want) {
			t.Errorf("%T: %q, want %q", f, got, want)
		}
	}
	if got := placed(floodmark.ChildEnded{Sources: list}, 1); got != "1" {
		t.Errorf("after the first: %q", got)
	}
}

func placed(f floodmark.Fact, most int) string {
	var got []string
	for n, digest := range floodmark.Placed(f) {
		if digest != floodmark.DigestOf(fmt.Sprint(n)) {
			return fmt.Sprintf("node %d has %v", n, digest)
		}
		if got = append(got, fmt.Sprint(n)); len(got) == most {
			break
		}
	}
	return strings.Join(got, " ")
}
