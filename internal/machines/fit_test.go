package machines

import (
	"testing"

	"github.com/floodmark/floodmark/wire"
)

// An approval that leaves out the place a question asks for is not taken, and says so:
// the laptop would not take it either.
func TestAPlaceHasToBeNamed(t *testing.T) {
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
	} {
		if why := Unfit(c.q, c.r); (why == "") != c.fits {
			t.Errorf("%v of %v: %q", c.r, c.q, why)
		}
	}
}
