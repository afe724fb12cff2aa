package policy

import (
	"github.com/floodmark/floodmark"

	"github.com/floodmark/floodmark/policy/policyfile"
)

// An answer is what one word of a policy says of a call. Smaller is safer in each part.
type answer struct {
	verdict floodmark.Verdict // of a call that would run outside of a box
	inside  floodmark.Verdict // of a call that the door can box
	reach   floodmark.Reach   // of a call that the door can box
}

// plainly returns the answer that is the same for every call.
func plainly(v floodmark.Verdict) answer { return answer{v, v, floodmark.Free} }

// parseAnswer reads a word. An unknown word restricts.
func parseAnswer(word string) answer {
	switch word {
	case floodmark.Contain:
		return answer{floodmark.Confirm, floodmark.Allow, floodmark.Boxed}
	case policyfile.ElseAudit:
		return answer{floodmark.Audit, floodmark.Allow, floodmark.Boxed}
	}
	v, _ := floodmark.ParseVerdict(word)
	return plainly(v)
}

// join returns the minimum of both answers, part by part.
func (a answer) join(b answer) answer {
	return answer{min(a.verdict, b.verdict), min(a.inside, b.inside), min(a.reach, b.reach)}
}

func (a answer) String() string {
	for _, word := range []string{floodmark.Contain, policyfile.ElseAudit, a.verdict.String()} {
		if parseAnswer(word) == a {
			return word
		}
	}
	return a.verdict.String() + ", or " + a.inside.String() + " in a box"
}

// A ruled is an answer with its reasons, which are made once.
type ruled struct {
	says             answer
	floodmark.Reason                   // of a call that would run outside of a box
	inside           *floodmark.Reason // of a call that can be boxed, if it is not allowed even there
	boxes            *floodmark.Reason // why a call that can be boxed runs in a box; nil if it need not
	bare             bool              // Reason says that the call would run outside of a box
}

// newRuled makes the reasons of an answer. bare says that people may expect such a call to run in a
// box, so the answer says if it would not.
func newRuled(says answer, code floodmark.Code, rule string, bare bool, text func(floodmark.Verdict) string) *ruled {
	r := &ruled{says: says, Reason: floodmark.Reason{Code: code, Rule: rule, Verdict: says.verdict, Text: text(says.verdict)}}
	if says.reach == floodmark.Free {
		return r
	}
	if says.inside < floodmark.Allow {
		r.inside = &floodmark.Reason{Code: code, Rule: rule, Verdict: says.inside, Text: text(says.inside)}
	}
	r.boxes = &floodmark.Reason{
		Code: floodmark.Contained, Rule: rule, Verdict: floodmark.Allow,
		Text: "it runs in a box, which has no network and nothing but this project",
	}
	if r.bare = bare; bare {
		r.Text += ", and it would run outside a box"
	}
	return r
}

// say adds the reasons that an answer gives for the call.
func (rs *reasons) say(q *Question, r *ruled) {
	switch {
	case r == nil:
	case r.boxes == nil:
		rs.add(&r.Reason)
	case q.Boxable:
		rs.boxed = true
		rs.add(r.inside)
		rs.add(r.boxes)
	default:
		rs.add(&r.Reason)
		rs.bare = rs.bare || r.bare
	}
}
