package story

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

// A form says how a verb is written, with an example.
type form struct{ verb, write, example string }

// forms lists every verb, in the order of the reference.
func forms() []form {
	return []form{
		{"agent", "agent NAME [boxes]", "agent claude-code"},
		{"session", "session NAME", "session s2"},
		{"start", "start [CAUSE] [by-person] [project=DIR] [home=DIR]", "start clear by-person project=/work"},
		{"end", "end", "end"},
		{"owner", "owner TEXT", "owner Read https://example.com/news"},
		{"typed", "typed TEXT", "typed Read https://example.com/news"},
		{"from", "from ORIGIN TEXT", `from {"kind":"sender","name":"mail","sender":"ann@example.com"} Please call me`},
		{"assembled", "assembled [CONTENT, …]", `assembled [{"kind":"system_prompt","origin":{"kind":"system"},"text":"You help."}]`},
		{"returns", "returns TEXT", "returns All is well."},
		{"fails", "fails TEXT", "fails no such page"},
		{"fails-in-box", "fails-in-box [HOST…]", "fails-in-box api.example"},
		{"result", "result [#ID] TOOL TEXT", "result #a web_fetch All is well."},
		{"iteration", "iteration N", "iteration 0"},
		{"model", "model TOOL… [| [CONTENT, …]] -> ANSWER", "model read exec -> allow hiding exec"},
		{"proposes", "proposes ID TOOL [JSON] [& ID TOOL [JSON]]…", `proposes a read {"path":"a.txt"} & b exec {"command":"make"}`},
		{"call", "call [#ID] TOOL [JSON] -> ANSWER", `call read {"path":"a.txt"} -> allow`},
		{"reply", "reply TEXT", "reply Nothing is new."},
		{"publish", "publish TEXT", "publish Nothing is new."},
		{"spawn", "spawn CHILD TEXT", "spawn helper Summarise the page"},
		{"ended", "ended CHILD TEXT", "ended helper All is well."},
		{"approve", "approve [TICKET]", "approve $ticket"},
		{"deny", "deny [TICKET]", "deny $ticket"},
		{"endorse", "endorse TEXT", "endorse All is well."},
		{"withdraw", "withdraw TEXT", "withdraw All is well."},
		{"auditor", "auditor allow | auditor block [REASON] | auditor unsure | auditor silent", "auditor block nobody asked for this"},
		{"verifier", "verifier NAME allow | verifier NAME deny [REASON] | verifier NAME fails [WHY]", "verifier webhook deny not on a Friday"},
		{"file", "file PATH TEXT", `file /work/.env DB_PASSWORD=hunter two`},
		{"checkout", "checkout DIR own | checkout DIR REMOTE COMMIT", "checkout /work/lib https://git.example/lib 1f2e3d4c"},
		{"pushes", "pushes TEXT | pushes unseen WHY | pushes otherwise WHY", "pushes one commit to main"},
		{"gone", "gone PATH", "gone /work/target"},
		{"changed", "changed PATH… [… if that may not be all]", "changed /work/a.txt /work/b.txt"},
		{"pause", "pause DURATION [SESSION]", "pause 15m"},
		{"observe", "observe DURATION [SESSION]", "observe 24h"},
		{"resume", "resume [SESSION]", "resume"},
		{"wait", "wait DURATION", "wait 90s"},
		{"restart", "restart", "restart"},
		{"hook", "hook EVENT -> ANSWER", `hook {"point":"loop_iteration_end","iteration":0} -> allow`},
		{"mark", "mark TRUST/SECRECY", "mark untrusted/internal"},
		{"expect", "expect NAME [TEXT] | expect no NAME [TEXT]", "expect notice Approved: exec."},
	}
}

func verbs() []string {
	var list []string
	for _, f := range forms() {
		list = append(list, f.verb)
	}
	return list
}

var errUsage = errors.New("this verb is written differently")

// misused says what is wrong with a line and how its verb is written.
func misused(verb string, why error) error {
	for _, f := range forms() {
		if f.verb == verb {
			return fmt.Errorf("%w; write «%s», such as «%s»", why, f.write, f.example)
		}
	}
	return why
}

// unknown returns the error for a word that is not one of the known words.
func unknown(kind, got string, known []string) error {
	text := fmt.Sprintf("%q is no %s", shorten(got, maxQuoted), kind)
	if guess := nearest(got, known); len(guess) > 0 {
		text += "; did you mean " + strings.Join(guess, " or ") + "?"
	}
	return fmt.Errorf("%s (known: %s)", text, strings.Join(known, ", "))
}

func unknownVerb(got string) error {
	text := fmt.Sprintf("unknown verb %q", shorten(got, maxQuoted))
	if guess := nearest(got, verbs()); len(guess) > 0 {
		return misused(guess[0], errors.New(text+"; did you mean "+strings.Join(guess, " or ")+"?"))
	}
	return fmt.Errorf("%s (known: %s)", text, strings.Join(verbs(), ", "))
}

// The limits on the text that a message quotes, and on words that are compared.
const (
	maxQuoted = 200
	maxWord   = 40
	maxGuess  = 3
)

// nearest returns the words that a mistyped word may stand for, the best first. A word is one of
// them if at most a third of its letters differ, or if it begins with the mistyped word.
func nearest(got string, words []string) []string {
	if got == "" || len(got) > maxWord {
		return nil
	}
	low := strings.ToLower(got)
	off := map[string]int{}
	var list []string
	for _, w := range words {
		off[w] = spelling.EditsOrSwaps(low, w)
		if off[w] <= max(1, len(w)/3) || len(low) > 2 && strings.HasPrefix(w, low) {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(off[a], off[b]) })
	return list[:min(len(list), maxGuess)]
}

// shorten returns valid text of at most n letters.
func shorten(text string, n int) string {
	letters := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(letters) <= n {
		return string(letters)
	}
	return string(letters[:n-1]) + "…"
}
