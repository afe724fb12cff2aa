package approval

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// People approve a place unread if only others named it, because the card looks as they expect. So
// the approver must say which place it is.

// minPicked is the least length of a value that has to be read.
const minPicked = 4

// Pick returns what a person has to type or choose besides approving, and digests that prove it. If
// p is nil, the approval is enough. If there are several places, each has to be typed, because a
// choice among three would prove only one.
func (s *Subject) Pick(by Prover) (whole, end floodmark.Digest, p *Pick) {
	places := s.steered()
	if len(places) == 0 {
		return whole, end, nil
	}
	mac := func(what, text string) floodmark.Digest {
		return PickMAC(by.Key, by.Session, s.Action.ArgsDigest, what, text)
	}
	p = &Pick{}
	var values, tails, words []string
	for n, at := range places {
		a := s.Action.Arguments[at]
		if n == 0 {
			p.Argument = a.Path
		} else {
			p.Others = append(p.Others, a.Path)
		}
		for k, part := range Parts(a.Shown) {
			if slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, part) }) {
				continue
			}
			tail, say := Tail(part), strings.TrimPrefix(TailWords(known(a), part), "type ")
			if k > 0 {
				tail, say = part, fmt.Sprintf("the last %d characters of the address", PickEnd)
			}
			values, tails, words = append(values, part), append(tails, tail), append(words, say)
		}
	}
	if len(values) > 1 {
		p.Words = eachOf(words)
		return mac(PickWhole, Together(strings.Join(values, " "))), mac(PickTail, Together(strings.Join(tails, " "))), p
	}
	whole = mac(PickWhole, values[0])
	if p.Among, p.Words = among(values[0], by), "pick the right one"; len(p.Among) == 0 {
		p.Words = "type " + words[0]
		end = mac(PickTail, tails[0])
	}
	return whole, end, p
}

// known returns the name of an argument that the catalog knows, else "": a card does not
// repeat names by others.
func known(a floodmark.Argument) string {
	if a.Role == floodmark.Undeclared || strings.Contains(a.Path, ".") {
		return ""
	}
	return a.Path
}

// maxEach is how many things to type are named one by one.
const maxEach = 3

// eachOf says that several things have to be typed.
func eachOf(words []string) string {
	if len(words) > maxEach {
		return fmt.Sprintf("type how each of the %d places ends, with spaces between: what stands behind an @, the name of a site with its ending, or else %d characters", len(words), PickEnd)
	}
	return "type, with a space between: " + strings.Join(words, "; ")
}

// steered returns the arguments that a person must prove, because only others named them.
// Destinations come first, then what else decides about the call.
func (s *Subject) steered() []int {
	if s.reads() {
		return nil
	}
	rank := func(i int) int { // smaller comes first
		if slices.Contains(s.Basis.Destinations, i) {
			return int(s.Action.Arguments[i].Trust)
		}
		return int(floodmark.System) + 1 + int(s.Action.Arguments[i].Trust)
	}
	var list []int
	for i, a := range s.Action.Arguments {
		if !Outside(a) || utf8.RuneCountInString(s.pickable(i)) < minPicked {
			continue
		}
		if a.Role == floodmark.Undeclared && !slices.Contains(s.Basis.Destinations, i) {
			continue
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int { return rank(a) - rank(b) })
	return list
}

// pickable returns the part of a value that a person reads: the host of a URL, or
// as much of a text as is shown.
func (s *Subject) pickable(i int) string {
	a := s.Action.Arguments[i]
	if s.Leaves[i].Kind != hook.String || a.Shown == "" {
		return ""
	}
	return Place(a.Shown)
}

// among returns three values to pick from: the real one and the newest two that the owner typed. If
// there are no two, it returns none.
func among(value string, by Prover) []string {
	list := []string{value}
	for _, text := range slices.Backward(by.Owner) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;<>()\"'«»", r) }) {
			w = strings.ToLower(strings.TrimRight(w, ".:!?"))
			if host := tokens.URLHost(w); host != "" && !strings.Contains(value, "@") {
				w = host
			}
			same := func(o string) bool { return strings.EqualFold(o, w) }
			if len(list) < 3 && alikePlace(value, w) && !slices.ContainsFunc(list, same) {
				list = append(list, w)
			}
		}
	}
	if len(list) < 3 {
		return nil
	}
	// The order follows from the code, which cannot be guessed.
	order := CodeMAC(by.Key, by.Session, "order of the places", by.Code)
	first := int(order[0]) % 3
	list[0], list[first] = list[first], list[0]
	if order[1]%2 == 0 {
		a, b := (first+1)%3, (first+2)%3
		list[a], list[b] = list[b], list[a]
	}
	return list
}

// alikePlace reports whether two values could be taken for the same sort of
// place: two mail addresses, or two hosts.
func alikePlace(value, w string) bool {
	mail := func(t string) bool {
		local, host, ok := strings.Cut(t, "@")
		return ok && local != "" && strings.Contains(host, ".") && !strings.ContainsAny(t, "/ ")
	}
	host := func(t string) bool {
		return strings.Contains(t, ".") && !strings.ContainsAny(t, "@/ ") && len(t) > minPicked
	}
	return mail(value) && mail(w) || host(value) && host(w)
}
