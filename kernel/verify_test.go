package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/report"
	"github.com/floodmark/floodmark/verify"
)

const oneGate = "verifiers: [{name: webhook}]\n"

func yes(gate string) kernel.GateAnswer {
	return kernel.GateAnswer{Gate: gate, Request: "r", Answer: verify.Answer{Allow: true}}
}

func no(gate, reason string) kernel.GateAnswer {
	return kernel.GateAnswer{Gate: gate, Request: "r", Answer: verify.Answer{Reason: reason}}
}

func silent(gate string, k verify.FailureKind) kernel.GateAnswer {
	return kernel.GateAnswer{Gate: gate, Request: "r", Failure: &verify.Failure{Kind: k, Text: "no answer"}}
}

// verified lets gates answer what they were asked.
func (d *desk) verified(tool, args string, asked *kernel.Asking, last bool, answers ...kernel.GateAnswer) kernel.Output {
	d.t.Helper()
	if asked == nil {
		d.t.Fatal("nobody was asked")
	}
	h := kernel.Hearing{Asked: *asked, Answers: answers, Last: last}
	return d.take(kernel.Verify(d.state, d.rules, d.input(hook.Event{Point: hook.BeforeToolCall, Call: toolCall(tool, args)}), h))
}

// A call that waits has not run: nothing is announced, nothing is used up, and a
// result that arrives all the same is an incident.
func TestACallThatWaitsDoesNotRun(t *testing.T) {
	d := newDesk(t, oneGate)
	out := d.call("look", `{"q":"x"}`)
	if f := decided(t, out); f.Decision.Verdict != floodmark.Allow || fmt.Sprint(f.Decision.Verifiers) != "[webhook]" || out.Verify == nil || len(kept[floodmark.ContentSeen](out)) > 0 {
		t.Errorf("%+v", out)
	}
	if len(d.state.Refused) != 1 {
		t.Errorf("refused so far: %v", d.state.Refused)
	}
	if line := report.Retell(&d.state.Ledger, decided(t, out)).Line; line != "look: waits for the verifiers webhook" {
		t.Error(line)
	}
	ran := d.tell(hook.Event{Point: hook.AfterToolCall, Call: toolCall("look", `{"q":"x"}`), Result: hook.Result{Text: "y"}})
	if list := kept[floodmark.IncidentSeen](ran); len(list) != 1 || list[0].Kind != "refused-call-ran" {
		t.Errorf("%+v", list)
	}
	d = newDesk(t, oneGate)
	out = d.call("look", `{"q":"x"}`)
	out = d.verified("look", `{"q":"x"}`, out.Verify, false, yes("webhook"))
	if f := decided(t, out); f.Decision.Verdict != floodmark.Allow || len(f.Decision.Verifiers) > 0 || len(kept[floodmark.ContentSeen](out)) != 1 || out.Verify != nil {
		t.Errorf("%+v", out)
	}
	if len(d.state.Refused) != 0 {
		t.Errorf("refused in the end: %v", d.state.Refused)
	}
}

// What each answer of a gate leads to.
func TestAnswersOfGates(t *testing.T) {
	const open = "verifiers: [{name: webhook, failMode: allow}]\n"
	for name, c := range map[string]struct {
		policy string
		answer kernel.GateAnswer
		want   floodmark.Verdict
		text   string
	}{
		"yes":                 {oneGate, yes("webhook"), floodmark.Allow, "the verifier webhook allowed it"},
		"yes, for a reason":   {oneGate, kernel.GateAnswer{Gate: "webhook", Answer: verify.Answer{Allow: true, Reason: "the moon is full"}}, floodmark.Allow, "the verifier webhook allowed it"},
		"no":                  {oneGate, no("webhook", ""), floodmark.Restrict, "the verifier webhook refused it"},
		"no, for a reason":    {open, no("webhook", "a\x1b[1m\n b"), floodmark.Restrict, `the verifier webhook refused it and said "a[1m b"`},
		"zero":                {open, kernel.GateAnswer{Gate: "webhook"}, floodmark.Restrict, "the verifier webhook refused it"},
		"silence":             {oneGate, silent("webhook", verify.TimedOut), floodmark.Restrict, "the verifier webhook gave no answer: no answer"},
		"excused":             {open, silent("webhook", verify.TimedOut), floodmark.Allow, "gave no answer (no answer), and failMode lets the call pass then"},
		"deadline":            {open, silent("webhook", verify.Deadline), floodmark.Restrict, "gave no answer: no answer"},
		"stopped":             {open, silent("webhook", verify.Stopped), floodmark.Restrict, "gave no answer: no answer"},
		"not set":             {open, silent("webhook", verify.Unconfigured), floodmark.Restrict, "gave no answer: no answer"},
		"a yes that failed":   {oneGate, kernel.GateAnswer{Gate: "webhook", Answer: verify.Answer{Allow: true}, Failure: &verify.Failure{Kind: verify.Malformed, Text: "odd"}}, floodmark.Restrict, "gave no answer: odd"},
		"warn is no failMode": {"verifiers: [{name: webhook}]\n", silent("webhook", verify.Status), floodmark.Restrict, "gave no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.policy)
			out := d.verified("look", `{"q":"x"}`, d.call("look", `{"q":"x"}`).Verify, false, c.answer)
			f, facts := decided(t, out), kept[floodmark.VerifierAnswered](out)
			if f.Decision.Verdict != c.want || len(facts) != 1 || facts[0].Verdict != c.want || !strings.Contains(f.Decision.Reasons[0].Text, c.text) {
				t.Errorf("%+v %+v", f.Decision, facts)
			}
			if r := f.Decision.Reasons[0]; r.Code != floodmark.Verified || r.Rule != "webhook" || r.Verdict != c.want {
				t.Errorf("%+v", r)
			}
			if refused := c.want == floodmark.Restrict; refused != (out.Reply.Line != "") || refused != (f.Decision.Remedy.Agent != "") || refused != (f.Decision.Remedy.Person != "") {
				t.Errorf("%q %+v", out.Reply.Line, f.Decision.Remedy)
			}
			// Only the journal has the reason of an approval: the agent reads only refusals.
			if reason := c.answer.Answer.Reason; c.want == floodmark.Allow && reason != "" && (facts[0].Text != reason || strings.Contains(fmt.Sprint(out.Reply, f), reason)) {
				t.Errorf("%+v %+v", out.Reply, facts[0])
			}
			if facts[0].Call == "" || facts[0].ArgsDigest.IsZero() || facts[0].ArgsDigest != f.Action.ArgsDigest {
				t.Errorf("%+v", facts[0])
			}
		})
	}
}

// Answers are valid only for what was shown, by those who were asked. In every other case the gates
// are asked anew, and the last time the call is refused.
func TestAnswersAreBound(t *testing.T) {
	two := deskRules(t, "verifiers: [{name: webhook}, {name: phone}]\n")
	for name, change := range map[string]func(*desk, *kernel.Hearing){
		"another call":    func(_ *desk, h *kernel.Hearing) { h.Asked.Request.Digest[0]++ },
		"other params":    func(_ *desk, h *kernel.Hearing) { h.Asked.Request.Params = []byte("{}") },
		"another tool":    func(_ *desk, h *kernel.Hearing) { h.Asked.Request.Tool = "read" },
		"another session": func(_ *desk, h *kernel.Hearing) { h.Asked.Request.Session = "t" },
		"nobody answered": func(_ *desk, h *kernel.Hearing) { h.Answers = nil },
		"somebody else":   func(_ *desk, h *kernel.Hearing) { h.Answers[0].Gate = "phone" },
		"a gate more":     func(d *desk, _ *kernel.Hearing) { d.rules = two },
	} {
		for _, last := range []bool{false, true} {
			d := newDesk(t, oneGate)
			asked := d.call("look", `{"q":"x"}`).Verify
			h := kernel.Hearing{Asked: *asked, Answers: []kernel.GateAnswer{yes("webhook")}, Last: last}
			change(d, &h)
			out := d.take(kernel.Verify(d.state, d.rules, d.input(hook.Event{Point: hook.BeforeToolCall, Call: toolCall("look", `{"q":"x"}`)}), h))
			f := decided(t, out)
			if last && (f.Decision.Verdict != floodmark.Restrict || out.Verify != nil || !strings.Contains(out.Reply.Line, "kept changing")) {
				t.Errorf("%s, the last time: %+v", name, f.Decision)
			}
			if !last && (f.Decision.Verdict != floodmark.Allow || len(f.Decision.Verifiers) == 0 || out.Verify == nil || len(kept[floodmark.ContentSeen](out)) > 0) {
				t.Errorf("%s: %+v", name, f.Decision)
			}
		}
	}
}

// A call that waits once more, because the answers were to another request, is judged again as one
// that waits.
func TestWaitingOnceMoreIsJudgedAgainTheSame(t *testing.T) {
	d := newDesk(t, oneGate)
	asked := *d.call("look", `{"q":"x"}`).Verify
	asked.Request.Digest[0]++
	d.verified("look", `{"q":"x"}`, &asked, false, no("webhook", ""))
	wantOutcomes(t, outcomes(t, replay.Retrial{Now: d.rules}, d, d.facts), "look same allow if webhook agrees -> allow if webhook agrees", "look same allow if webhook agrees -> allow if webhook agrees")
}

// Both gates must allow the call, in whatever order they answer.
func TestEveryGateMustAllow(t *testing.T) {
	const two = "verifiers: [{name: webhook}, {name: phone}]\n"
	for _, c := range []struct {
		answers []kernel.GateAnswer
		want    floodmark.Verdict
	}{
		{[]kernel.GateAnswer{yes("webhook"), yes("phone")}, floodmark.Allow},
		{[]kernel.GateAnswer{yes("phone"), yes("webhook")}, floodmark.Allow},
		{[]kernel.GateAnswer{yes("webhook"), no("phone", "x")}, floodmark.Restrict},
		{[]kernel.GateAnswer{no("webhook", "x"), yes("phone")}, floodmark.Restrict},
		{[]kernel.GateAnswer{yes("webhook"), silent("phone", verify.Status)}, floodmark.Restrict},
	} {
		d := newDesk(t, two)
		out := d.verified("look", `{"q":"x"}`, d.call("look", `{"q":"x"}`).Verify, false, c.answers...)
		if got := decided(t, out).Decision; got.Verdict != c.want || len(got.Verifiers) > 0 || len(kept[floodmark.VerifierAnswered](out)) != 2 {
			t.Errorf("%+v: %+v", c.answers, got)
		}
	}
}

// A change while gates are asked is taken into account: here a page was read, so a person has to be
// asked first. The answers are written down all the same.
func TestACallIsJudgedAgain(t *testing.T) {
	d := newDesk(t, "verifiers: [{name: webhook, include: [shell]}]\n")
	d.owner("go on")
	asked := d.call("shell", `{"code":"x"}`).Verify
	d.reads("page", `{"url":"https://news.example"}`, "text")
	out := d.verified("shell", `{"code":"x"}`, asked, false, yes("webhook"))
	if f := decided(t, out); f.Decision.Verdict != floodmark.Confirm || out.Ask == nil || len(kept[floodmark.VerifierAnswered](out)) != 1 {
		t.Errorf("%+v", f.Decision)
	}
	d.answer(approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: d.ticket})
	out = d.call("shell", `{"code":"x"}`)
	if out.Verify == nil || len(kept[floodmark.GrantUsed](out)) > 0 {
		t.Fatalf("the former yes counts again, or the grant is used: %+v", out.Facts)
	}
	out = d.verified("shell", `{"code":"x"}`, out.Verify, false, no("webhook", ""))
	if len(kept[floodmark.GrantUsed](out)) > 0 || decided(t, out).Decision.Verdict != floodmark.Restrict {
		t.Errorf("%+v", out.Facts)
	}
	out = d.call("shell", `{"code":"x"}`)
	out = d.verified("shell", `{"code":"x"}`, out.Verify, false, yes("webhook"))
	if len(kept[floodmark.GrantUsed](out)) != 1 || decided(t, out).Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v", out.Facts)
	}
}

// Both judgements of a call are in the context that proposed it.
func TestWaitingKeepsTheProposedContext(t *testing.T) {
	d := newDesk(t, "verifiers: [{name: webhook, include: [shell]}]\n")
	d.owner("go on")
	d.tell(hook.Event{Point: hook.BeforeLLMCall})
	c, other := toolCall("shell", `{"code":"x"}`), toolCall("page", `{"url":"https://news.example"}`)
	d.tell(hook.Event{Point: hook.AfterLLMCall, Calls: []hook.Call{other, c}})
	d.tell(hook.Event{Point: hook.BeforeToolCall, Call: other})
	d.tell(hook.Event{Point: hook.AfterToolCall, Call: other, Result: hook.Result{Text: "text"}})
	out := d.tell(hook.Event{Point: hook.BeforeToolCall, Call: c})
	before := decided(t, out)
	out = d.verified("shell", `{"code":"x"}`, out.Verify, false, yes("webhook"))
	if after := decided(t, out); after.Mark != before.Mark || after.Decision.Verdict != floodmark.Allow {
		t.Errorf("first at %v, then at %v: %+v", before.Mark, after.Mark, after.Decision)
	}
	if len(d.state.Proposed) > 0 {
		t.Errorf("it may be proposed again: %v", d.state.Proposed)
	}
}

// The settings' gates are in the basis, so that a replay knows them. The strictest of settings and
// policy is taken.
func TestGatesOfTheSettings(t *testing.T) {
	d := newDesk(t, "verifiers: [{name: webhook, failMode: allow, timeout: 5s}]\n")
	d.rules.Gates = verify.Gates{
		{Name: "phone", Scope: verify.Scope{Include: []string{"look"}}, Timeout: time.Minute, FailMode: verify.FailAllow},
		{Name: "webhook", FailMode: verify.FailAllow, Timeout: 9 * time.Second},
		{Name: "webhook", Agent: "a"},
		{Name: "other", Agent: "b"},
	}
	out := d.call("look", `{"q":"x"}`)
	if f := decided(t, out); fmt.Sprint(f.Decision.Verifiers, f.Basis.Gates) != "[webhook phone] [phone webhook]" {
		t.Errorf("%v %v", f.Decision.Verifiers, f.Basis.Gates)
	}
	if got := fmt.Sprint(out.Verify.Gates); got != "[{webhook  {[] []} deny 5s} {phone  {[] []} allow 1m0s}]" {
		t.Error(got)
	}
	out = d.call("diary", `{"q":"x"}`)
	if f := decided(t, out); fmt.Sprint(f.Decision.Verifiers, f.Basis.Gates) != "[webhook] [webhook]" {
		t.Errorf("%v %v", f.Decision.Verifiers, f.Basis.Gates)
	}
}

// An answer to others passes no gate: verifiers are asked about tools.
func TestAnswersPassNoGate(t *testing.T) {
	d := newDesk(t, oneGate)
	d.owner("say hello")
	if r := d.reply("hello", hook.ToOthers); len(r.Decision.Verifiers) > 0 {
		t.Errorf("%+v", r.Decision)
	}
}

// Judged again by the same rules, nothing differs. Without the gate, its refusal is gone.
func TestReplayOfVerifiedCalls(t *testing.T) {
	d := newDesk(t, oneGate)
	d.rules.Gates = verify.Gates{{Name: "phone"}}
	for _, answer := range []kernel.GateAnswer{yes("webhook"), no("webhook", "x"), silent("webhook", verify.Status)} {
		out := d.call("look", `{"q":"x"}`)
		d.verified("look", `{"q":"x"}`, out.Verify, false, answer, yes("phone"))
	}
	var facts []replay.Recorded
	for _, f := range d.facts {
		facts = append(facts, replay.Recorded{At: d.at, Fact: f})
	}
	for name, c := range map[string]struct{ policy, want string }{
		"the same":         {oneGate, "[same same same same same same]"},
		"without the gate": {"maxIterations: 20\n", "[changed same changed changed changed changed]"},
	} {
		a, err := replay.Retrial{Now: deskRules(t, c.policy)}.Session(facts, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []replay.Outcome
		for _, r := range a.Decisions {
			got = append(got, r.Outcome)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// answerAll approves the question a reply waits for.
func (d *desk) answerAll(r hook.Reply) {
	d.t.Helper()
	if r.Ticket != "" {
		d.answer(approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: r.Ticket})
	}
}

// The auditor's opinion is used in the round with the verifiers for the case that was shown, and
// for no other. It is written down once.
func TestTheOpinionHoldsForItsCase(t *testing.T) {
	const args = `{"path":"work/a","text":"x"}`
	for name, c := range map[string]struct {
		between func(*desk)
		change  func(*kernel.Hearing)
		want    floodmark.Verdict
	}{
		"the same case":    {nil, nil, floodmark.Allow},
		"another case":     {func(d *desk) { d.owner("and be quick") }, nil, floodmark.Audit},
		"no case":          {nil, func(h *kernel.Hearing) { h.Case = nil }, floodmark.Audit},
		"the auditor's no": {nil, func(h *kernel.Hearing) { h.Opinion = audit.Opinion{Says: audit.Block} }, floodmark.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "auditor: {on: true}\nverifiers: [{name: webhook, include: [keep]}]\n")
			d.owner("read https://news.example and take notes")
			d.reads("page", `{"url":"https://news.example"}`, "text")
			out := d.call("keep", args)
			if out.Case == nil {
				t.Fatalf("%+v", out.Reply.Decision)
			}
			h := kernel.Hearing{Case: out.Case, Opinion: audit.Opinion{Says: audit.Allow}}
			out = d.opine("keep", args, h.Opinion)
			if out.Verify == nil {
				t.Fatalf("%+v", out.Reply.Decision)
			}
			h.Asked, h.Answers = *out.Verify, []kernel.GateAnswer{yes("webhook")}
			if c.between != nil {
				c.between(d)
			}
			if c.change != nil {
				c.change(&h)
			}
			out = d.take(kernel.Verify(d.state, d.rules, d.input(hook.Event{Point: hook.BeforeToolCall, Call: toolCall("keep", args)}), h))
			if got := out.Reply.Decision; got.Verdict != c.want || (out.Case != nil) != (c.want == floodmark.Audit) || len(kept[floodmark.OpinionGiven](out)) > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}
