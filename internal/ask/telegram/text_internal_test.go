package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/verify"
)

func TestCutRunes(t *testing.T) {
	if got := cutRunes("日本語", 3); got != "日本語" {
		t.Errorf("at the limit: %q", got)
	}
	if got := cutRunes("日本語!", 3); got != "日本…" {
		t.Errorf("one beyond: %q", got)
	}
}

// nasty is a value by which an attacker tries to change what the card says.
const nasty = "x*bold* <b>y</b> [z](https://evil.example) @anna /start #t\n\nAnswer within 5 minutes. [Allow]\u202e\u200b\x1b[2J"

func nastyCalls() []approval.Question {
	q := approval.Question{
		Action: floodmark.Action{
			Tool: floodmark.ToolRef{Agent: nasty, Server: nasty, Name: nasty}, Effects: []floodmark.Effect{floodmark.Send},
			Arguments: []floodmark.Argument{{Path: nasty, Shown: nasty, Whence: floodmark.Seen}},
		},
		Source: nasty, Consequence: nasty, Line: nasty,
		Offers: []approval.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}, {Words: nasty, Scope: floodmark.GrantPattern, Pattern: nasty, For: time.Hour}},
	}
	return []approval.Question{q}
}

// Foreign text is in a frame of its own and never begins a line.
func TestWhatOthersWriteCannotLookLikeOurs(t *testing.T) {
	calls := nastyCalls()
	for name, card := range map[string]Text{
		"question": questionCard(approval.Head(calls), calls, choicesOf(approval.Ticket{ID: "t", Calls: 1}, calls)),
		"two":      questionCard(approval.Head(calls), append(calls, calls...), nil),
		"closed":   questionCard(ending(approval.Outcome{Verdict: floodmark.Allow, By: nasty, Channel: nasty}), calls, nil),
		"gate":     gateCard(gateHead(verify.Request{Agent: nasty, Tool: nasty}), verify.Request{Tool: nasty, Lines: []string{nasty}, Session: nasty}),
		"params":   gateCard("h", verify.Request{Params: params(nasty)}),
	} {
		all := utf16.Encode([]rune(card.String()))
		framed := make([]bool, len(all))
		for _, e := range card.entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(all) {
				t.Fatalf("%s: a mark lies outside the text: %+v", name, e)
			}
			for i := range e.Length {
				framed[e.Offset+i] = true
			}
		}
		ours := []rune{}
		for i, u := range all {
			if !framed[i] {
				ours = append(ours, rune(u))
			}
		}
		for _, bad := range []string{"evil", "bold", "@anna", "[Allow]", "5 minutes"} {
			if strings.Contains(string(ours), bad) {
				t.Errorf("%s: %q stands among our own words: %q", name, bad, string(ours))
			}
		}
		for _, r := range card.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
				t.Errorf("%s lets %U through", name, r)
			}
		}
		if strings.Contains(card.String(), "\n\nAnswer") {
			t.Errorf("%s: what others wrote begins a line: %s", name, card)
		}
	}
}

func params(value string) []byte {
	b, _ := json.Marshal(map[string]string{"command": value})
	return b
}

// The longest card still fits on a screen, and every label on its button.
func TestCardsFit(t *testing.T) {
	long := strings.Repeat("\u202eщ🙂", 4000)
	q := approval.Question{
		Action: floodmark.Action{Tool: floodmark.ToolRef{Agent: long, Server: long, Name: long}}, Source: long, Consequence: long, Line: long,
	}
	for range 9 {
		q.Action.Arguments = append(q.Action.Arguments, floodmark.Argument{Path: long, Shown: long})
	}
	for _, o := range []string{long, long + "x", long} {
		q.Offers = append(q.Offers, approval.Offer{Words: o, Scope: floodmark.GrantPattern})
	}
	for n := 1; n <= 16; n++ {
		if testing.Short() && n > 2 && n < 16 {
			continue // the race detector takes ten seconds for each
		}
		var calls []approval.Question
		for range n {
			calls = append(calls, q)
		}
		choices := choicesOf(approval.Ticket{ID: "t", Calls: n}, calls)
		card := questionCard(approval.Head(calls), calls, choices)
		if card.units > maxMessageUnits-200 || card.units != len(utf16.Encode([]rune(card.String()))) {
			t.Errorf("%d calls: %d units", n, card.units)
		}
		for _, row := range keyboardOf([]byte("k"), "abcd", kindQuestion, strings.Repeat("t", maxTicketBytes), choices) {
			if utf8.RuneCountInString(row[0].Text) > maxButtonRunes || len(row[0].Data) > maxDataBytes {
				t.Errorf("%d calls: button %+v", n, row[0])
			}
		}
	}
}

func FuzzCard(f *testing.F) {
	f.Add("exec", "command", nasty, "web page", uint8(1))
	f.Add("", "", "\xff\xfe", strings.Repeat("a", 5000), uint8(3))
	f.Fuzz(func(t *testing.T, tool, path, value, source string, n uint8) {
		q := approval.Question{Source: source, Consequence: value, Action: floodmark.Action{
			Tool: floodmark.ToolRef{Agent: tool, Name: tool}, Arguments: []floodmark.Argument{{Path: path, Shown: value}, {Path: value, Shown: path}},
		}, Offers: []approval.Offer{{Words: value, Scope: floodmark.GrantPattern, Pattern: source}}}
		var calls []approval.Question
		for range n%5 + 1 {
			calls = append(calls, q)
		}
		card := questionCard(approval.Head(calls), calls, choicesOf(approval.Ticket{ID: "t", Calls: len(calls)}, calls))
		if !utf8.ValidString(card.String()) || card.units > maxMessageUnits-200 || card.units != len(utf16.Encode([]rune(card.String()))) {
			t.Errorf("%d units of %q", card.units, card)
		}
		for _, e := range card.entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > card.units {
				t.Errorf("a mark outside the text: %+v", e)
			}
		}
	})
}
