package machines

import (
	"testing"

	"github.com/floodmark/floodmark/wire"
)

// An approval is refused, with the reason, if it leaves out the place a question asks for or is for
// an earlier form of it, because the laptop would not accept it either.
func TestAnAnswerFits(t *testing.T) {
	seen := &wire.Question{Seen: "now", Calls: []*wire.AskedCall{{}}}
	picks := &wire.Question{Calls: []*wire.AskedCall{{Pick: &wire.Pick{}}}}
	for _, c := range []struct {
		q    *wire.Question
		r    *wire.AnswerRequest
		fits bool
	}{
		{picks, &wire.AnswerRequest{Verb: "approve", Calls: 1}, false},
		{picks, &wire.AnswerRequest{Verb: "approve", Calls: 1, Tool: "all"}, false},
		{picks, &wire.AnswerRequest{Verb: "approve", Calls: 1, Picked: "shop.example"}, true},
		{picks, &wire.AnswerRequest{Verb: "deny"}, true},
		{&wire.Question{Calls: []*wire.AskedCall{{}}}, &wire.AnswerRequest{Verb: "approve", Calls: 1}, true},
		{seen, &wire.AnswerRequest{Verb: "approve", Calls: 1, Seen: "now"}, true},
		{seen, &wire.AnswerRequest{Verb: "approve", Calls: 1, Seen: "before"}, false},
		{seen, &wire.AnswerRequest{Verb: "approve", Calls: 1}, true}, // an older program compares only the number of calls
		{seen, &wire.AnswerRequest{Verb: "deny", Seen: "before"}, true},
	} {
		if why := Unfit(c.q, c.r); (why == "") != c.fits {
			t.Errorf("%v of %v: %q", c.r, c.q, why)
		}
	}
}
