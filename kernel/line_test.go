package kernel_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
)

// The line of a refusal, word for word: source, argument, action, way out.
func TestLines(t *testing.T) {
	const (
		approve  = "Approve it, deny it, or trust the source («floodmark trust») if you vouch for it."
		hopeless = "It cannot be approved here. Trust the source («floodmark trust») if you vouch for it, or change the policy."
	)
	for name, c := range map[string]struct {
		reads      [][2]string
		tool, args string
		begin, end string
	}{
		"composed":    {nil, "mail", `{"to":"bob@example.com"}`, `page one.example (untrusted) -> to "bob@example.com" (composed by the model) -> mail: waits for your approval because `, approve},
		"seen":        {nil, "mail", `{"to":"eve@evil.example"}`, `page one.example (untrusted) -> to "eve@evil.example" (seen there) -> mail: waits for your approval because `, approve},
		"no argument": {nil, "shell", "", "page one.example (untrusted) -> shell: waits for your approval because ", approve},
		"content":     {nil, "mail", `{"body":"x"}`, "page one.example (untrusted) -> mail: waits for your approval because ", approve},
		"refused":     {nil, "setup", `{"key":"x y"}`, `page one.example (untrusted) -> key "x y" (composed by the model) -> setup: refused because `, hopeless},
		"worst":       {nil, "mail", `{"id":"bob@example.com","to":"eve@evil.example"}`, `page one.example (untrusted) -> to "eve@evil.example" (seen there) -> mail: `, approve},
		"first":       {nil, "mail", `{"id":"X-1-a","to":"bob@example.com"}`, `page one.example (untrusted) -> id "X-1-a" (composed by the model) -> mail: `, approve},
		"stated":      {nil, "mail", `{"to":"https://one.example/a","id":"X-1-a"}`, `page one.example (untrusted) -> id "X-1-a" (composed by the model) -> mail: `, approve},
		"all stated":  {nil, "mail", `{"to":"https://one.example/a"}`, "page one.example (untrusted) -> mail: ", approve},
		"hidden":      {nil, "mail", `{"key":"eve@evil.example","to":"bob@example.com"}`, `page one.example (untrusted) -> to "bob@example.com" (composed by the model) -> mail: `, approve},
		"private": {
			[][2]string{{"diary", "dear diary"}},
			"mail", `{"to":"bob@example.com"}`,
			`diary (local) [private], page one.example (untrusted) -> to "bob@example.com" (composed by the model) -> mail: waits`, approve,
		},
		"secret": {
			[][2]string{{"diary", "dear diary"}, {"vault", "the key"}},
			"mail", `{"to":"bob@example.com"}`,
			`vault (local) [secret], page one.example (untrusted) -> to "bob@example.com" (composed by the model) -> mail: waits`, approve,
		},
		"secret, seen": {
			[][2]string{{"vault", "the key"}, {"inbox", "ask zoe@evil.example"}},
			"mail", `{"to":"zoe@evil.example"}`,
			`inbox (external), vault (local) [secret], … -> to "zoe@evil.example" (seen there) -> mail: refused`, hopeless,
		},
		"two of them": {
			[][2]string{{"inbox", "ask zoe@evil.example"}},
			"mail", `{"to":"zoe@evil.example"}`,
			`inbox (external), page one.example (untrusted) -> to "zoe@evil.example" (seen there) -> mail: `, approve,
		},
	} {
		d := tainted(t, "")
		for _, r := range c.reads {
			d.reads(r[0], "", r[1])
		}
		out := d.call(c.tool, c.args)
		if got := out.Reply.Line; !strings.HasPrefix(got, c.begin) || !strings.HasSuffix(got, ". "+c.end) {
			t.Errorf("%s:\n got %s\nwant %s … %s", name, got, c.begin, c.end)
		}
	}
}

// If there is no source to blame, there is nothing to endorse.
func TestLinesOfTheOwnersOwn(t *testing.T) {
	rules := "rules:\n  - {name: ask, when: 'call.tool == \"mail\"', action: {verdict: confirm}}\n  - {name: never, when: 'call.tool == \"keep\"', action: {verdict: restrict}}\n"
	for tool, end := range map[string]string{
		"mail": "Approve it or deny it.",
		"keep": "It cannot be approved here. Change the policy if you want it.",
	} {
		d := newDesk(t, rules)
		d.owner("hello")
		out := d.call(tool, "")
		if got := out.Reply.Line; !strings.HasPrefix(got, tool+": ") || !strings.HasSuffix(got, ". "+end) || out.Reply.Decision.Blame != nil {
			t.Errorf("%s: %q", tool, got)
		}
	}
}

// Data that could leave is named, also if it is the only reason.
func TestLineOfASecretAlone(t *testing.T) {
	d := newDesk(t, "")
	d.owner("hello")
	d.reads("vault", "", "the key")
	out := d.call("mail", `{"to":"bob@example.com"}`)
	if got := out.Reply.Line; len(out.Reply.Decision.Reasons) != 1 || !strings.HasPrefix(got, "vault (local) [secret] -> to ") {
		t.Errorf("%+v\n%s", out.Reply.Decision.Reasons, got)
	}
}

// What the agent is told to do instead.
func TestRemedies(t *testing.T) {
	d := tainted(t, "")
	for tool, want := range map[string]string{
		"mail":  "Tell the owner what you want to do and why, go on with what needs no approval, and try the same call again once it is approved.",
		"setup": "Do not try this again; finish the task without it and say what was left out.",
		"look":  "",
	} {
		if got := d.call(tool, "").Reply.Decision.Remedy.Agent; got != want {
			t.Errorf("%s: %q", tool, got)
		}
	}
	out := d.tell(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c", Name: "look", Args: []byte("{")}})
	got := decided(t, out)
	if got.Trust != floodmark.Untrusted || got.Decision.Reasons[0] != (floodmark.Reason{Code: floodmark.Unjudged, Text: "its arguments cannot be read"}) ||
		got.Decision.Remedy.Agent != "Send the arguments as one JSON object without repeated keys." || got.Action.ArgsDigest != floodmark.DigestOf("{") {
		t.Errorf("unreadable: %+v", got)
	}
	if out.Reply.Line != "look: refused because its arguments cannot be read. There is nothing for you to do: the agent has to write it again." {
		t.Errorf("unreadable: %q", out.Reply.Line)
	}
}

// How a source is called wherever a person reads of it.
func TestSourceNames(t *testing.T) {
	for want, o := range map[string]floodmark.Origin{
		"mail/get (untrusted)":                       {Kind: floodmark.FromTool, Server: "mail", Name: "get"},
		"get x.example (untrusted)":                  {Kind: floodmark.FromTool, Name: "get", Place: "x.example"},
		"message from eve (untrusted)":               {Kind: floodmark.FromSender, Sender: "eve", Name: "chat"},
		"message from an unknown sender (untrusted)": {Kind: floodmark.FromSender, Name: "chat"},
		"file notes.md (untrusted)":                  {Kind: floodmark.FromFile, Name: "notes.md"},
		"definition hub (untrusted)":                 {Kind: floodmark.FromDefinition, Name: "hub"},
		"child k (untrusted)":                        {Kind: floodmark.FromChild, Name: "k"},
		"parent p (untrusted)":                       {Kind: floodmark.FromParent, Name: "p"},
		"quote (untrusted)":                          {Kind: floodmark.FromQuote, Name: "x"},
		"content of unknown origin (untrusted)":      {},
		"content nobody announced (untrusted)":       {Kind: floodmark.FromUnknown},
		"earlier (untrusted)":                        {Kind: floodmark.FromUnknown, Name: "earlier"},
	} {
		d := newDesk(t, "")
		digest := floodmark.DigestOf("x")
		d.apply(floodmark.ContentSeen{Source: floodmark.Source{Kind: floodmark.NodeInput, Origin: o, Digest: digest}})
		if got := d.answer(approval.Command{Verb: approval.Status}).Reply.Notice; !strings.HasSuffix(got, "\n- "+want+", digest "+digest.Short()) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

const audited = "auditor: {on: true}\n"

// What the journal and the answer say for each opinion of an auditor.
func TestOpinions(t *testing.T) {
	for name, c := range map[string]struct {
		opinion audit.Opinion
		verdict floodmark.Verdict
		text    string
	}{
		"yes":        {audit.Opinion{Says: audit.Allow}, floodmark.Allow, "the auditor finds it consistent with the owner's words"},
		"no":         {audit.Opinion{Says: audit.Block}, floodmark.Confirm, "the auditor does not find it in the owner's words"},
		"no because": {audit.Opinion{Says: audit.Block, Reason: `not "bob"`}, floodmark.Confirm, `the auditor does not find it in the owner's words: "not \"bob\""`},
		"none":       {audit.Opinion{}, floodmark.Confirm, "the auditor gave no opinion"},
	} {
		d := newDesk(t, audited)
		d.owner("Tell bob what the wall says.")
		d.reads("wall", "", "the wall says no")
		d.reads("look", "", "more")
		d.reads("wall", "", "the wall says yes")
		args := `{"to":"bob@example.com","body":"the wall says no"}`
		out := d.call("mail", args)
		if out.Reply.Decision.Verdict != floodmark.Audit || out.Case == nil || out.Ask != nil || out.Reply.Line != "" {
			t.Fatalf("%s: %+v", name, out.Reply)
		}
		if got := strings.Join(out.Case.SourceTools, " "); got != "wall look" || len(out.Case.OwnerMessages) != 1 || out.Case.Tool.Name != "mail" || len(out.Case.Effects) != 1 {
			t.Errorf("%s: the case %+v", name, out.Case)
		}
		if a := out.Case.Arguments; len(a) != 2 || a[0].Foreign || !a[1].Foreign || a[1].Path != "body" || a[1].Text != "the wall says no" {
			t.Errorf("%s: the case %+v", name, a)
		}
		out = d.opine("mail", args, c.opinion)
		got := decided(t, out)
		given := kept[floodmark.OpinionGiven](out)
		if len(given) != 1 || given[0].Verdict != c.verdict || given[0].Text != c.text || given[0].ArgsDigest != got.Action.ArgsDigest || given[0].Call != got.Action.Call {
			t.Errorf("%s: %+v", name, given)
		}
		first := floodmark.Reason{Code: floodmark.Audited, Rule: "auditor", Text: c.text, Verdict: c.verdict}
		if got.Decision.Verdict != c.verdict || got.Decision.Reasons[0] != first || len(got.Decision.Reasons) < 2 {
			t.Errorf("%s: %+v", name, got.Decision)
		}
		if asked := out.Ask != nil; asked == (c.verdict == floodmark.Allow) || asked != (len(got.Decision.Blame) > 0) || asked != (got.Decision.Remedy.Person != "") {
			t.Errorf("%s: asked = %v, %+v", name, asked, got.Decision)
		}
		if announced := len(kept[floodmark.ContentSeen](out)) > 0; announced != (c.verdict == floodmark.Allow) {
			t.Errorf("%s: a result is expected: %v", name, announced)
		}
	}
}

// If an auditor may not decide a call, a person is asked at once.
func TestNotForTheAuditor(t *testing.T) {
	rule := "rules:\n  - {name: check, when: 'true', action: {verdict: audit}}\n"
	for name, c := range map[string]struct {
		reads, tool string
		verdict     floodmark.Verdict
	}{
		"a note":            {"", "look", floodmark.Audit},
		"code, clean":       {"", "shell", floodmark.Audit},
		"code, at local":    {"look", "shell", floodmark.Audit},
		"code, below local": {"wall", "shell", floodmark.Confirm},
		"admin":             {"", "setup", floodmark.Confirm},
	} {
		d := newDesk(t, audited+rule)
		d.owner("hello")
		if c.reads != "" {
			d.call(c.reads, "")
			d.opine(c.reads, "", audit.Opinion{Says: audit.Allow})
		}
		if got := d.call(c.tool, "").Reply.Decision.Verdict; got != c.verdict {
			t.Errorf("%s: %v, want %v", name, got, c.verdict)
		}
	}
	d := newDesk(t, audited+rule)
	d.tell(hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSystem}, Text: "go"})
	if got := d.call("look", "").Reply.Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("without the owner's words: %v", got)
	}
	d = newDesk(t, rule)
	d.owner("hello")
	if got := d.call("look", "").Reply.Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("without an auditor: %v", got)
	}
	if out := d.opine("look", "", audit.Opinion{Says: audit.Allow}); out.Reply.Decision.Verdict != floodmark.Confirm || len(kept[floodmark.OpinionGiven](out)) != 0 {
		t.Errorf("an opinion nobody asked for: %+v", out.Reply.Decision)
	}
}
