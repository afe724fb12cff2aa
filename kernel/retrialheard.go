package kernel

import "github.com/floodmark/floodmark"

// heard is what others said of a recorded call before it was decided.
type heard struct {
	opinion *floodmark.OpinionGiven
	answers []floodmark.VerifierAnswered
}

// heardIn is what stands in the event of the decision at facts[at], which begins
// at from. An opinion may be older if verifiers were asked after it: then the
// call was decided twice, and the opinion stands with the first decision.
func heardIn(facts []Recorded, from, at int) heard {
	var h heard
	for _, f := range facts[from:at] {
		switch f := f.Fact.(type) {
		case floodmark.OpinionGiven:
			if h.opinion == nil {
				h.opinion = &f
			}
		case floodmark.VerifierAnswered:
			h.answers = append(h.answers, f)
		default:
		}
	}
	d, _ := facts[at].Fact.(floodmark.ActionDecided)
	for i := from - 1; i >= 0 && h.opinion == nil && len(h.answers) > 0; i-- {
		if o, ok := facts[i].Fact.(floodmark.OpinionGiven); ok {
			if o.Call == d.Action.Call && o.ArgsDigest == d.Action.ArgsDigest {
				h.opinion = &o
			}
			break
		}
	}
	return h
}
