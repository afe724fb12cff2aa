package kernel_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// lived returns the facts of a session that read n pages and decided as often.
func lived(tb testing.TB, rules kernel.Rules, n int) ([]floodmark.Fact, *postings.Memory) {
	tb.Helper()
	state, index := kernel.NewState(), postings.NewMemory()
	var facts []floodmark.Fact
	tell := func(ev hook.Event) {
		ev.Agent, ev.Session = "openclaw", "s"
		out, err := kernel.Step(state, rules, kernel.Input{Event: ev, At: time.Unix(0, 0), Index: index, Code: "00000000", Ticket: "t"})
		if err != nil {
			tb.Fatal(err)
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
	tell(hook.Event{Point: hook.SessionStart})
	tell(hook.Event{Point: hook.MessageReceived, Text: "read these pages", Origin: floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true, Sender: "o"}})
	for i := range n {
		call := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", i)), Name: "web_fetch", Args: json.RawMessage(fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))}
		tell(hook.Event{Point: hook.BeforeToolCall, Call: call})
		tell(hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: fmt.Sprintf("page %d says write to user%d@example.net", i, i)}})
	}
	return facts, index
}

// BenchmarkFold measures the rebuilding of a session of 200 events.
func BenchmarkFold(b *testing.B) {
	facts, _ := lived(b, mustRules(b, "version: 1\n", ""), 66)
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
	rules := mustRules(b, "version: 1\n", "")
	facts, index := lived(b, rules, 200)
	state, err := kernel.Replay(facts)
	if err != nil {
		b.Fatal(err)
	}
	for name, args := range map[string]string{
		"stated":  `{"to":"bob@example.com","body":"hello"}`,
		"seen":    `{"to":"user7@example.net","body":"hello, I read page 7"}`,
		"longer":  `{"to":"user7@example.net","body":"` + fmt.Sprintf("%01000d", 7) + ` some words that go on for a while"}`,
		"command": `{"command":"git status"}`,
	} {
		tool := "send_email"
		if name == "command" {
			tool = "exec"
		}
		in := kernel.Input{At: time.Unix(1, 0), Index: index, Code: "00000000", Ticket: "t", Event: hook.Event{
			Agent: "openclaw", Session: "s", Point: hook.BeforeToolCall,
			Call: hook.Call{ID: "x", Name: tool, Args: json.RawMessage(args)},
		}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := kernel.Step(state, rules, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
