package kernel_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/report"
)

// canary is a secret to try Floodmark with.
const canary = "floodmark-canary-4k7q1z9m3x8v5c2b6n0w7r1t"

func mailing(t testing.TB, body string) string {
	t.Helper()
	return jsonArgs(t, map[string]string{"to": "anna@firm.example", "body": body})
}

// However a secret came in, the facts have only its rule and place, the session is secret, and a
// call that contains it is refused with the reason.
func TestFoundSecret(t *testing.T) {
	const text = "the key is " + canary + " and the rest is long_enough_to_be_looked_up"
	for name, in := range map[string]struct {
		bring func(d *desk)
		from  string
	}{
		"by a tool": {func(d *desk) { d.reads("inbox", `{"q":"x"}`, text) }, "inbox"},
		"by a call nobody decided": {func(d *desk) {
			d.reads("inbox", `{"q":"x"}`, "mail")
			d.tell(hook.Event{Point: hook.AfterToolCall, Call: toolCall("look", `{"q":"x"}`), Result: hook.Result{Text: text}})
		}, "look"},
		"by a stranger": {func(d *desk) {
			d.tell(hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "eve"}, Text: text})
		}, "message from eve"},
		"by the owner": {func(d *desk) {
			d.owner(text)
			d.reads("inbox", `{"q":"x"}`, "mail")
		}, "message from olga"},
		"by a file beside a message": {func(d *desk) {
			d.tell(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: "see the file", Typed: true, Parts: []hook.Content{
				{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "offer.txt"}, Text: text},
			}})
			d.reads("inbox", `{"q":"x"}`, "mail")
		}, "file offer.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			in.bring(d)
			if got := d.state.Mark().Secrecy; got != floodmark.Secret {
				t.Fatalf("the session is %s", got)
			}
			out := d.call("mail", mailing(t, base64.StdEncoding.EncodeToString([]byte(canary))))
			f := decided(t, out)
			place := fmt.Sprintf("floodmark-canary at 11-%d of %s", 11+len(canary), in.from)
			if f.Decision.Verdict != floodmark.Restrict || !strings.Contains(f.Decision.Reasons[0].Text, place) || !strings.Contains(out.Reply.Line, place) {
				t.Errorf("%s: %+v\nwant %s", out.Reply.Line, f.Decision.Reasons, place)
			}
			why := strings.Join(report.Retell(&d.state.Ledger, f).Sources, "\n")
			if want := fmt.Sprintf("with a secret (floodmark-canary) at 11-%d", 11+len(canary)); !strings.Contains(why, want) {
				t.Errorf("why says %q, not %q", why, want)
			}
			rest := decided(t, d.call("mail", mailing(t, "see long_enough_to_be_looked_up")))
			if rest.Decision.Verdict != floodmark.Confirm || len(rest.Basis.Carried) > 0 {
				t.Errorf("other words of it: %+v", rest.Decision)
			}
			for _, fact := range d.facts {
				if _, body, err := factjson.Encode(fact); err != nil || strings.Contains(string(body), canary[17:]) {
					t.Errorf("a fact holds the secret: %s %v", body, err)
				}
			}
		})
	}
}

func TestFoundSecretOfDeclaredContent(t *testing.T) {
	d := newDesk(t, "")
	d.reads("inbox", `{"q":"x"}`, "mail")
	d.reads("vault", `{"q":"x"}`, "key "+canary+" and long_enough_to_be_looked_up")
	if f := decided(t, d.call("mail", mailing(t, "see long_enough_to_be_looked_up"))); f.Decision.Verdict != floodmark.Restrict {
		t.Errorf("what is secret as a whole is so in every word: %+v", f.Decision)
	}
}

// What was made from content with a found secret in it is secret, but its words are no secrets.
// What was made from content declared secret is a secret as a whole.
func TestFoundSecretAndWhatIsMadeFromIt(t *testing.T) {
	for tool, want := range map[string]floodmark.Verdict{"inbox": floodmark.Confirm, "vault": floodmark.Restrict} {
		d := newDesk(t, "")
		d.reads("inbox", `{"q":"hello"}`, "mail")
		d.reads(tool, `{"q":"x"}`, canary+" goes with_the_number_4711_of_it")
		d.reads("look", `{"q":"with_the_number_4711_of_it"}`, "the answer_made_from_that_one")
		if f := decided(t, d.call("mail", mailing(t, "answer_made_from_that_one"))); f.Decision.Verdict != want || f.Mark.Secrecy != floodmark.Secret {
			t.Errorf("%s: %s at %s, want %s", tool, f.Decision.Verdict, f.Mark, want)
		}
	}
}

func TestSecretNobodyBrought(t *testing.T) {
	d := newDesk(t, "")
	d.reads("inbox", `{"q":"x"}`, "mail")
	f := decided(t, d.call("mail", mailing(t, "take "+canary)))
	if f.Decision.Verdict != floodmark.Restrict || len(f.Basis.Carried) != 1 || f.Basis.Carried[0] != (floodmark.Carried{Rule: "floodmark-canary"}) {
		t.Errorf("%+v %+v", f.Decision, f.Basis)
	}
	// Text that only looks random may be anything.
	f = decided(t, d.call("mail", mailing(t, "token = Zf3D0LXCM3EI"+"MbgJpUNnkRtOfOueHznB")))
	if f.Decision.Verdict != floodmark.Confirm || f.Basis.SecretInArgs {
		t.Errorf("%+v %+v", f.Decision, f.Basis)
	}
	// In a session that the owner alone has spoken in, a secret may be sent.
	d = newDesk(t, "")
	d.owner("mail it")
	if f := decided(t, d.call("mail", mailing(t, canary))); f.Decision.Verdict != floodmark.Allow || !f.Basis.SecretInArgs {
		t.Errorf("%+v %+v", f.Decision, f.Basis)
	}
}

func TestAQuestionShowsNoSecret(t *testing.T) {
	d := newDesk(t, "")
	d.reads("wall", `{"q":"x"}`, "friends")
	out := d.call("shell", `{"code":"deploy --with `+canary+` now"}`)
	if out.Ask == nil || out.Ask.Call.Action.Arguments[0].Shown != "deploy --with [hidden] now" || strings.Contains(fmt.Sprintf("%+v", out), canary[17:]) {
		t.Errorf("%+v", out)
	}
}

func TestWithoutNewRulesEverythingIsASecret(t *testing.T) {
	d := newDesk(t, "")
	d.rules = kernel.Rules{Policy: d.rules.Policy, Catalog: d.rules.Catalog}
	d.reads("inbox", `{"q":"x"}`, "mail")
	if f := decided(t, d.call("mail", mailing(t, "hello"))); f.Decision.Verdict != floodmark.Restrict || d.state.Mark().Secrecy != floodmark.Secret {
		t.Errorf("%+v", f.Decision)
	}
}

// BenchmarkResult measures taking in a usual tool result of two kilobytes.
func BenchmarkResult(b *testing.B) {
	rules := mustRules(b, "version: 1\n", "")
	text := strings.Repeat("2026-03-01T10:00:07Z INFO request done path=/items/17 status=200\n", 32)[:2000]
	facts, index := lived(b, rules, 10)
	state, err := kernel.Replay(facts)
	if err != nil {
		b.Fatal(err)
	}
	ev := hook.Event{Point: hook.AfterToolCall, Agent: "openclaw", Session: "s", Call: hook.Call{ID: "n", Name: "web_fetch"}, Result: hook.Result{Text: text}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := kernel.Step(state, rules, kernel.Input{Event: ev, Index: index, Code: "00000000", Ticket: "t"}); err != nil {
			b.Fatal(err)
		}
	}
}
