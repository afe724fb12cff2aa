package prove

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a program in an agent's settings answers, only the monitor's own refusal is accepted.
func FuzzAnswer(f *testing.F) {
	f.Add("gemini-cli", []byte(`{"decision":"deny","reason":"floodmark: the hook's message was not understood"}`))
	f.Add("codex", []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"x"}}`))
	f.Add("cursor", []byte(`{"permission":"ask"}`))
	f.Fuzz(func(t *testing.T, agent string, out []byte) {
		c, known := canaryOf(agent)
		if !known {
			return
		}
		// JSON may contain the words with escapes.
		if c.check(out) == nil && !bytes.Contains(out, []byte(`deny`)) && !bytes.Contains(out, []byte(`\`)) {
			t.Errorf("%s took %q for a no", agent, out)
		}
	})
}

func FuzzTail(f *testing.F) {
	f.Add("a\x1b[31mb\n\u009bc" + strings.Repeat("ü", maxTail))
	f.Fuzz(func(t *testing.T, said string) {
		got := tail(said)
		if len(got) > maxTail || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\n\r\x00") {
			t.Errorf("%q", got)
		}
	})
}
