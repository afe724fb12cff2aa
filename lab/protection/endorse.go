package protection

// questions counts how many of the asked calls a person would really have been
// asked about, if each yes also covered what it was about for the rest of the
// turn: the values that decide where the effect lands, for that class of
// effect; or the whole class, if the call has no such value.
//
// The published definition says «that value (or effect class)»; of several
// readings this one gives its figures. It looks at the recording and the cards
// only, so that it counts alike for every policy and none can make its own
// questions look cheaper.
func questions(cards Cards, t *Trace, asked []bool) int {
	type approval struct{ effect, value string }
	approved := map[approval]bool{}
	n := 0
	for _, s := range t.Steps {
		for i := range s.Calls {
			c := &s.Calls[i]
			if !asked[c.Index] {
				continue
			}
			card := cards.Card(t.Suite, c.Tool)
			about := []approval{}
			for _, l := range c.criticalLeaves(card) {
				about = append(about, approval{card.Effect, fold(l.Value)})
			}
			if len(about) == 0 {
				about = append(about, approval{effect: card.Effect})
			}
			covered := true
			for _, a := range about {
				covered = covered && approved[a]
				approved[a] = true
			}
			if !covered {
				n++
			}
		}
	}
	return n
}
