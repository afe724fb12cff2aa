package kernel

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// A place that only others wrote of is easily nodded through: the card looks as
// the owner expects it to look. So whoever approves must say which place it is.

// minPicked is from how many characters a value is worth reading.
const minPicked = 4

// pick says what a person has to say besides yes, with what proves it. Without
// it a nod is enough.
func (st *step) pick(j *judged) (whole, end floodmark.Digest, p *approval.Pick) {
	at, ok := steered(j)
	if !ok {
		return whole, end, nil
	}
	value := pickable(j, at)
	mac := func(what, text string) floodmark.Digest {
		return approval.PickMAC(st.in.Key[:], st.ev.Session, j.action.ArgsDigest, what, text)
	}
	p = &approval.Pick{Argument: j.action.Arguments[at].Path, Among: st.among(value), Words: "pick the right one"}
	whole = mac(approval.PickWhole, value)
	if len(p.Among) == 0 {
		path := ""
		if j.action.Arguments[at].Role != floodmark.Undeclared && !strings.ContainsAny(p.Argument, ".") {
			path = p.Argument
		}
		p.Words = approval.TailWords(path, value)
		end = mac(approval.PickTail, approval.Tail(value))
	}
	return whole, end, p
}

// steered returns the argument that has to be picked: where the call goes, if
// only others said so, or else what decides most about it.
func steered(j *judged) (int, bool) {
	if reads(j) {
		return 0, false
	}
	best, found := 0, false
	rank := func(i int) int { // smaller comes first
		if slices.Contains(j.basis.Destinations, i) {
			return int(j.action.Arguments[i].Trust)
		}
		return int(floodmark.System) + 1 + int(j.action.Arguments[i].Trust)
	}
	for i, a := range j.action.Arguments {
		if !fromOutside(a) || utf8.RuneCountInString(pickable(j, i)) < minPicked {
			continue
		}
		if a.Role == floodmark.Undeclared && !slices.Contains(j.basis.Destinations, i) {
			continue
		}
		if !found || rank(i) < rank(best) {
			best, found = i, true
		}
	}
	return best, found
}

// pickable is the part of a value that a person reads: of an address in the net
// its host, of a text as much as is shown.
func pickable(j *judged, i int) string {
	a := j.action.Arguments[i]
	if j.leaves[i].Kind != hook.String || a.Shown == "" {
		return ""
	}
	return approval.Place(a.Shown)
}

// among are three values to pick from: the real one and two that the owner typed
// himself, the newest. Without those there is nothing to choose from.
func (st *step) among(value string) []string {
	list := []string{value}
	for _, text := range slices.Backward(st.s.Owner) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;<>()\"'«»", r) }) {
			w = strings.ToLower(strings.TrimRight(w, ".:!?"))
			if host := provenance.URLHost(w); host != "" && !strings.Contains(value, "@") {
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
	// The order follows from the code, which nobody can guess.
	order := approval.CodeMAC(st.in.Key[:], st.ev.Session, "order of the places", st.in.Code)
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

// picked reports whether a command says what the question wants to hear. A wrong
// end counts like a wrong code; a wrong choice closes the question.
func (st *step) picked(cmd approval.Command, open approval.Open) bool {
	for _, s := range open.Shown {
		if !approves(cmd, s) || approval.Picks(st.in.Key[:], st.ev.Session, s, cmd.Picked) {
			continue
		}
		if cmd.Picked == "" {
			st.out.Reply.Notice = fmt.Sprintf("Not yet: say where it goes, too, as the question asks: «%s %s <code> =…».", approval.Approve, visible(s.Tool.String()))
			return false
		}
		st.keep(floodmark.TicketRefused{Ticket: open.ID, Why: "another place was picked"})
		st.out.Reply.Notice = "That is not where it goes. Nothing was approved; look at the question again."
		switch {
		case s.PickEnd.IsZero(): // of three, whoever may try again needs not read
			st.out.Reply.Notice = "That is not where it goes. Nothing was approved, and the question is closed."
			st.void(open.ID, "another place was picked")
		case open.Wrong+1 >= st.settings().MaxTries:
			st.void(open.ID, "too many wrong picks")
		}
		return false
	}
	return true
}
