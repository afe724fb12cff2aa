package protection

// questions returns how many of the asked calls a person would really have been asked about if each
// yes also covered, for the rest of the turn, the same effect class with the same critical values;
// or the whole effect class if the call has no critical value.
//
// The published definition says «that value (or effect class)». Of several readings, this one gives
// its figures. The function uses only the recording and the cards, so that it counts alike for
// every policy, and no policy can make its own questions look cheaper.
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
