package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// answersSender reports whether a call does nothing but write back to somebody
// whose message the owner said to act on: «do what is asked in the mail from
// anna@desk.example». What that message says is not the owner's word: it may
// name nobody else, no amount and no file. The one address is his, and there is
// a text for it.
func (l *licence) answersSender() bool {
	if l.money() || l.tr != nil && !l.saysSomething() || slices.ContainsFunc(l.j.action.Effects, func(e floodmark.Effect) bool { return e != floodmark.Send }) {
		return false
	}
	senders := l.delegates()
	if len(senders) == 0 {
		return false
	}
	var grounds []floodmark.Ground
	for i, a := range l.j.action.Arguments {
		leaf := l.j.leaves[i]
		if a.Role == floodmark.Content || leaf.Value == "" || leaf.Kind == hook.Null {
			continue
		}
		if argument(l.j.use, leaf).Is != catalog.IsDestination || a.Whence != floodmark.Stated || !slices.Contains(senders, leaf.Value) || !l.knew(i, bySender) {
			return false
		}
		grounds = append(grounds, floodmark.Ground{Argument: i, By: string(bySender)})
	}
	l.j.basis.Grounds = append(l.j.basis.Grounds, grounds...)
	return len(grounds) > 0
}

// delegates are those whose messages the owner said to act on, unless he also
// said not to do such a thing.
func (l *licence) delegates() []string {
	var senders []string
	for _, text := range l.said {
		for _, r := range l.st.requests(text) {
			if r.Forbids(l.j.use.Licence) {
				return nil
			}
			senders = append(senders, r.ActsFor()...)
		}
	}
	return senders
}

// knew reports whether something vouches for an argument of a live call, or did
// so when a recorded one was judged.
func (l *licence) knew(i int, by warrant) bool {
	return l.tr != nil || slices.Contains(l.known, floodmark.Ground{Argument: i, By: string(by)})
}
