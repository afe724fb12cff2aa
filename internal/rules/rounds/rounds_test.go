package rounds_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/rounds"
)

// Each word is an event. The numbers are the rounds of the calls.
func TestRounds(t *testing.T) {
	for play, want := range map[string]string{
		"call call came call came came call":         "0 0 1 2",
		"call refused call refused call":             "0 0 1 1 2",
		"model call came model call call came model": "0 0 1 1 1 2",
		"model model":                    "0 1",
		"model call came call came call": "0 0 1 2", // later model calls are not reported
		"model proposed came proposed came proposed came call": "0 0 0 0 1",
		"began model call came began model call":               "0 0 1 1",
		"began call came began call":                           "0 1",
		"began0 call came began0 call came began0 call":        "0 1 2", // it always says the same
		"began0 model came began0 model":                       "0 1",
		"call came call first call":                            "0 1 0",
		strings.Repeat("call ", 33):                            strings.TrimSpace(strings.Repeat("0 ", 32) + "1"),
		"began model " + strings.Repeat("call ", 33):           "0 " + strings.TrimSpace(strings.Repeat("0 ", 32)+"1"),
		"model call came first model call":                     "0 0 0 0",
		"call came yes call":                                   "0 0",
		"model refused refused call model call":                "0 0 0 0 1 1", // of one answer
	} {
		var c rounds.Count
		var got []string
		told := 0
		for word := range strings.FieldsSeq(play) {
			switch word {
			case "call", "refused", "proposed":
				n := c.ForCall(word == "proposed")
				got = append(got, digit(n))
				c.Called(n, word == "refused")
			case "model":
				n := c.ForModel()
				got = append(got, digit(n))
				c.ModelCalled(n)
			case "began":
				c.RoundBegan(told)
				told++
			case "began0":
				c.RoundBegan(0)
			case "came":
				c.Came = true
			case "yes":
				c.Came = false
			case "first":
				c.FirstRound()
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%.60s: %s, want %s", play, text, want)
		}
	}
	c := rounds.Count{Heard: true, Iteration: 3}
	if c.FirstRound(); c != (rounds.Count{Heard: true}) {
		t.Errorf("%+v", c)
	}
	if c = (rounds.Count{}); c.Heard {
		t.Error("nobody said anything")
	}
	if c.ModelCalled(7); c.Iteration != 8 || !c.Heard {
		t.Errorf("%+v", c)
	}
}

func digit(n int) string { return string(rune('0' + n)) }
