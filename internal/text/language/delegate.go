package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// ActsFor returns the addresses of those whose message the clause says to act
// on: «do the tasks in the mail from anna@desk.example». There are none if the
// clause asks for something else as well, or forbids it.
func (r *Request) ActsFor() []string {
	if r.negated || r.aside {
		return nil
	}
	var senders []string
	for i := range r.items {
		if i > 0 && !r.items[i].sentence {
			continue
		}
		end := i + 1
		for end < len(r.items) && !r.items[end].sentence {
			end++
		}
		if wordOf(r.items[i]) == "do" && r.endsWith(end-1, "?") {
			continue // «do the tasks in the mail from Ann make sense?»
		}
		at, _ := r.g.opening(r.items[i:end], true)
		if acts := r.actsAt(i+at, end); acts > 0 {
			o := order{part: &part{g: r.g, whole: r.text, items: r.items[:end]}, at: acts, end: r.items[acts-1].End}
			if o.read() && !o.timed { // else it may have a condition
				senders = append(senders, r.sendersIn(acts, end)...)
			}
		}
	}
	return senders
}

// sendersIn returns the addresses behind «from», after a word for a message, between two items.
func (r *Request) sendersIn(at, end int) []string {
	var senders []string
	message := false
	for i := at; i < end; i++ {
		switch it := r.items[i]; {
		case r.g.Messages.has(wordOf(it)):
			message = true
		case message && it.Kind == tokens.Address && !it.inner && r.after(i, "from"):
			senders = append(senders, it.raw)
		}
	}
	return senders
}

// endsWith reports whether this mark is among the marks right behind an item.
func (r *Request) endsWith(i int, mark string) bool {
	rest := r.text[r.items[i].End:]
	marks := rest[:len(rest)-len(strings.TrimLeft(rest, " .!?\"'`)”»"))]
	return strings.Contains(marks, mark)
}

// actsAt returns the index of the word for what is to be done, behind a verb such as «do»
// or «follow», or -1. A «do» may be the word before, as part of the opening.
func (r *Request) actsAt(verb, end int) int {
	i := verb
	if i < end && r.g.Doing.has(wordOf(r.items[i])) {
		i++
	} else if i == 0 || wordOf(r.items[i-1]) != "do" {
		return -1
	}
	for i < end && r.g.Determiners.has(wordOf(r.items[i])) {
		i++
	}
	if i < end && r.g.Deeds.has(wordOf(r.items[i])) {
		return i
	}
	return -1
}

// after reports whether an item, with its quotes, is right after a word.
func (r *Request) after(i int, word string) bool {
	for j := i - 1; j >= 0; j-- {
		if r.items[j].End > r.items[i].Start { // the quotes around it
			continue
		}
		return wordOf(r.items[j]) == word
	}
	return false
}
