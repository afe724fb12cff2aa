package language

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

// aimOf returns the clearest aim of a value in a text.
func aimOf(text, value string) aim {
	best := notAimed
	for _, r := range NewLexicon().Requests(text) {
		for _, s := range r.find(value) {
			best = max(best, r.aim(s))
		}
	}
	return best
}

// In these texts X is where something goes, may be, or is not.
func TestAims(t *testing.T) {
	const eight = "a@b.example, b@b.example, c@b.example, d@b.example, e@b.example, f@b.example, g@b.example, h@b.example, "
	for want, texts := range map[aim][]string{
		aimed: {
			"send it to X", "Send it To X", "send it to dear kind fine nice sweet calm X", "send it to a@b.example, X", "send it to a@b.example or X",
			"send it to " + eight + "X", "send it to Ann Bob Carl Dan Eve Fay Gus Hal X", "send it to Bob (X) wrote", "send it to the man here, X",
			"reply to X's mail", "email X", `email X "a plan"`, "email a@b.example, X", "send that X", "to: X", "the cc is X",
			"forward what you send to X", "Send it. Ann was late. To X", "send it to 'X'", "send it to the X", "email X the plan", "email X about it",
			"email X to ask", "send the note (to X)", "forward the notes about Ann to X", "send it to X.", "notify X", "please invite X", "send what you have to X",
			"send it to Ann, also to X", "to X", "send for me the plan to X", "email from Ann to X", "send it to a@b.example, the X",
		},
		maybeAimed: {
			"send it. Recipient: dear X", "email X plan to Bob", "share it with X", "put it in X", "her address is X", "the address should be X",
			"the recipients are X", "the channel will be X", "write to these people: X", "to a@b.example with X", "Address: X",
		},
		notAimed: {
			"X", "my X", "is X", "send it to dear kind fine nice sweet calm good X", "send it to a@b.example, dear X", "send it to a@b.example and your own X",
			"send it to 谢谢谢谢谢谢谢 X", "send it to X's", "send it to X’s boss", "send it to Ann. X", "send it to a@b.example: X", "answer X's question",
			"email X's account", "email a@b.example, X knows", "send it from X", "tell Ann that X knows", "ask Ann to email X", "the boss is X", "send it. The boss: X",
			"to Ann: mail to X", "send the mail I gave to X", "send the mail addressed to X", "send what Ann has to X", "tell Ann that it goes to X",
			"tell Ann to write to X", "write to Ann regarding the mail to X", "write to Ann concerning the mail to X", "write to Ann about the mail to X",
			"send it to a@b.example, X wrote", "send it to a@b.example and X knows", "send it on behalf of X",
			"was it to X", "send it: to X", "they send it to X",
		},
	} {
		for _, text := range texts {
			if got := aimOf(strings.ReplaceAll(text, "X", "x@y.example"), "x@y.example"); got != want {
				t.Errorf("%q: %d, want %d", text, got, want)
			}
		}
	}
}

func TestTargets(t *testing.T) {
	for _, tt := range []struct {
		text, value string
		kind        hook.LeafKind
		want        bool
	}{
		{`send it to "Ann Bell"`, "Ann Bell", hook.String, true},
		{`forward the mail from Ann Bell to "Bob Hill"`, "Ann Bell", hook.String, false},
		{"send it to Ann Bell", "Ann Bell", hook.String, true},
		{"send it to (Ann Bell)", "Ann Bell", hook.String, true},
		{"forward the note from Ann Bell to Ann, Bell", "Ann Bell", hook.String, false},
		{`forward the note from Ann Bell to "it is Ann Bell 7"`, "Ann Bell", hook.String, false},
		{"add it to issue #7", "7", hook.Number, true},
		{"add it to issue 7", "7", hook.Number, true},
		{"add it to issue 7.00", "7", hook.Number, true},
		{"take it from issue #7 and add it to #8", "7", hook.Number, false},
		{"send it to Ann", "", hook.String, true},
		{"send it to Ann", "null", hook.Null, true},
		{"send it to Ann", "false", hook.Bool, true},
		{"send it to Ann", "true", hook.Bool, false},
		{"share it with x@y.example", "x@y.example", hook.String, true},
		{"share it with x@y.example to a@b.example", "x@y.example", hook.String, false},
		{"share it with x@y.example to the a@b.example", "x@y.example", hook.String, false},
		{`share it with x@y.example to "a@b.example"`, "x@y.example", hook.String, false},
		{"to a@b.example with x@y.example", "x@y.example", hook.String, false},
		{"share it with x@y.example to 7", "x@y.example", hook.String, true},
		{"share it with x@y.example to help", "x@y.example", hook.String, true},
		{"share it with x@y.example to 谢a@b.example", "x@y.example", hook.String, true},
	} {
		got := false
		for _, r := range NewLexicon().Requests(tt.text) {
			got = got || r.HasAsTarget(tt.value, tt.kind, "issue")
		}
		if got != tt.want {
			t.Errorf("%q goes to %q: %v", tt.text, tt.value, got)
		}
	}
}

func TestAmountsAndWhatStandsBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"pay less than big fat red 9000 EUR":         false,
		"pay less than big fat red odd 9000 EUR":     true,
		"than 9000 EUR":                              false,
		"of 9000 EUR":                                true,
		"50 of 9000 EUR":                             false,
		"pay out of 9000 EUR":                        false,
		"pay the sum of 9000 EUR":                    true,
		"pay 50 EUR of 9000 EUR":                     false,
		"take it from Ann and frobnicate 9000 EUR":   true,
		"take it from Ann. Frobnicate 9000 EUR":      true,
		"my limit is 50. So the bill of 9000 EUR":    true,
		"pay 9000 EUR, not the 9000 EUR from Monday": false,
		"pay 9000 EUR of my budget 9000 EUR":         true,
	} {
		got := false
		for _, r := range NewLexicon().Requests(text) {
			got = got || !r.negated && r.HasAsAmount("9000", hook.Number, "amount")
		}
		if got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
