package guard_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

// FuzzOnlyAYesRuns answers with any bytes. A tool runs if, and only if, the words «allow» are where
// they belong and no other field contradicts them.
func FuzzOnlyAYesRuns(f *testing.F) {
	for _, seed := range []string{
		`{"decision":{"verdict":"allow"}}`, `{"decision":{"verdict":"Allow"}}`, `{"decision":{"verdict":"confirm"},"ticket":"t"}`,
		`{"decision":{"verdict":"allow","verifiers":["w"]}}`, `{"decision":{"verdict":"allow"},"blockTurn":true}`, `{"decision":{"verdict":"allow","reach":"free"},"command":"x"}`,
		`{"decision":{"verdict":"allow","reach":"free"}}`, `{"decision":{"verdict":"allow","reach":"boxed"}}`, `{"decision":{"verdict":"allow","reach":"free"},"calls":[{"verdict":"allow"}]}`, `{}`, `null`, `[]`, ``,
		`{"decision":{"verdict":"restrict","reasons":[{"text":"x"}],"remedy":{"agent":"y"}},"line":"z"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j := judgeFunc(func(_ context.Context, ev hook.Event) (hook.Reply, error) {
			if ev.Point != hook.BeforeToolCall {
				return allow(), nil
			}
			var r hook.Reply
			err := json.Unmarshal(data, &r)
			return r, err // with an error the reply may be anything
		})
		s := start(t, j, guard.Options{})
		ran := false
		_, err := s.Run(t.Context(), hook.Call{Name: "look"}, func(context.Context) (string, error) { ran = true; return "", nil })
		if ran != isYes(data) || ran != (err == nil) {
			t.Errorf("%q: ran %t, %v", data, ran, err)
		}
		if err != nil && len(err.Error()) <= len("floodmark: ") {
			t.Errorf("%q: a refusal without a word", data)
		}
	})
}

// isYes checks the same rule, written as differently as possible.
func isYes(data []byte) bool {
	var whole hook.Reply
	if json.Unmarshal(data, &whole) != nil {
		return false
	}
	word, err := whole.Decision.Verdict.MarshalText()
	return err == nil && string(word) == "allow" &&
		whole.Decision.Reach.String() == "free" && !slices.ContainsFunc(whole.Calls, boxed) &&
		len(whole.Decision.Verifiers) == 0 && !whole.BlockTurn && whole.Command == ""
}

func boxed(d floodmark.Decision) bool { return d.Contained() }
