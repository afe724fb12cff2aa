package kernel_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

// BenchmarkGrowth measures decisions in a session that read few files and in one that read
// many, before and after the last of which held a secret.
func BenchmarkGrowth(b *testing.B) {
	rules := mustRules(b, "version: 1\nmaxIterations: 10000\n", "")
	for _, files := range []int{100, 9_900} {
		facts, index := lived(b, rules, files)
		state, err := kernel.Replay(facts)
		if err != nil {
			b.Fatal(err)
		}
		tell := func(p hook.Point, tool, args, result string) kernel.Output {
			out, err := kernel.Step(state, rules, kernel.Input{Readings: &kernel.Readings{}, At: time.Unix(0, 0), Index: index, Code: "00000000", Ticket: "t", Event: hook.Event{
				Agent: "openclaw", Session: "s", Point: p, Result: hook.Result{Text: result}, Call: hook.Call{ID: floodmark.CallID("x " + tool), Name: tool, Args: json.RawMessage(args)},
			}})
			if err != nil {
				b.Fatal(err)
			}
			return out
		}
		for _, c := range []struct {
			name, tool, args, seen string
			want                   floodmark.Verdict
		}{
			{"command", "exec", `{"command":"git status"}`, "", floodmark.Allow},
			{"mail", "send_email", `{"to":"user7@example.net","body":"hello, I read page 7"}`, "", floodmark.Confirm},
			{"a secret", "read", `{"path":"src/last.go"}`, "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz12345678", floodmark.Allow},
			{"command after it", "exec", `{"command":"git status"}`, "", floodmark.Allow},
			{"mail after it", "send_email", `{"to":"user7@example.net","body":"hello, I read page 7"}`, "", floodmark.Restrict},
			{"run", "exec", `{"command":"go test ./..."}`, "", floodmark.Confirm},
		} {
			for _, p := range []hook.Point{hook.BeforeToolCall, hook.AfterToolCall} {
				if c.seen == "" {
					break
				}
				for _, f := range tell(p, c.tool, c.args, c.seen).Facts {
					if err := state.Apply(f); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, files), func(b *testing.B) {
				for b.Loop() {
					if got := tell(hook.BeforeToolCall, c.tool, c.args, "").Reply.Decision; got.Verdict != c.want {
						b.Fatal(got)
					}
				}
			})
		}
	}
}
