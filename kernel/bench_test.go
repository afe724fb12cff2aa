package kernel_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// lived returns the facts of a session that read n files, all of which was allowed.
func lived(tb testing.TB, rules kernel.Rules, n int) ([]floodmark.Fact, *postings.Memory) {
	tb.Helper()
	state, index := kernel.NewState(), postings.NewMemory()
	var facts []floodmark.Fact
	tell := func(ev hook.Event) {
		ev.Agent, ev.Session = "openclaw", "s"
		out, err := kernel.Step(state, rules, kernel.Input{Event: ev, At: time.Unix(0, 0), Index: index, Code: "00000000", Ticket: "t"})
		if err != nil || out.Reply.Decision.Verdict != floodmark.Allow {
			tb.Fatal(ev.Point, out.Reply.Decision, err)
		}
		for _, f := range out.Facts {
			if err := state.Apply(f); err != nil {
				tb.Fatal(err)
			}
			facts = append(facts, f)
		}
		for _, c := range out.Indexed {
			index.Add(c.Node, provenance.Key{}.Postings(c.Text))
		}
	}
	tell(hook.Event{Point: hook.SessionStart, Project: "/work/p", Home: "/home/u"})
	tell(hook.Event{Point: hook.MessageReceived, Text: "read these files and mail bob@example.com", Origin: floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true, Sender: "o"}})
	for i := range n {
		call := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", i)), Name: "read", Args: json.RawMessage(fmt.Sprintf(`{"path":"src/file%d.go"}`, i))}
		tell(hook.Event{Point: hook.BeforeToolCall, Call: call})
		tell(hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: fmt.Sprintf("page %d says write to user%d@example.net", i, i)}})
	}
	return facts, index
}

// BenchmarkFold measures the rebuilding of a session of 200 events.
func BenchmarkFold(b *testing.B) {
	facts, _ := lived(b, mustRules(b, "version: 1\nmaxIterations: 10000\n", ""), 66)
	facts = facts[:200]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := kernel.Replay(facts); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStep measures one whole decision in a session with 200 sources.
func BenchmarkStep(b *testing.B) {
	rules := mustRules(b, "version: 1\nmaxIterations: 10000\n", "")
	facts, index := lived(b, rules, 200)
	state, err := kernel.Replay(facts)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, tool, args string
		want             floodmark.Verdict
	}{
		{"stated", "send_email", `{"to":"bob@example.com","body":"hello"}`, floodmark.Allow},
		{"seen", "send_email", `{"to":"user7@example.net","body":"hello, I read page 7"}`, floodmark.Confirm},
		{"longer", "send_email", `{"to":"user7@example.net","body":"` + fmt.Sprintf("%01000d", 7) + ` some words that go on for a while"}`, floodmark.Confirm},
		{"command", "exec", `{"command":"git status"}`, floodmark.Allow},
	} {
		in := kernel.Input{Readings: &kernel.Readings{}, At: time.Unix(1, 0), Index: index, Code: "00000000", Ticket: "t", Event: hook.Event{
			Agent: "openclaw", Session: "s", Point: hook.BeforeToolCall,
			Call: hook.Call{ID: "x", Name: c.tool, Args: json.RawMessage(c.args)},
		}}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := kernel.Step(state, rules, in); err != nil || out.Reply.Decision.Verdict != c.want {
					b.Fatal(out.Reply.Decision, err)
				}
			}
		})
	}
}
