package telegram

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// byPrefix begins the journal's name of a Telegram user.
const byPrefix = "telegram:"

// choicesOf returns the answers to a question: first deny, then the approvals from the narrowest to
// the widest. A question that a card cannot show as a whole can only be denied.
func choicesOf(t approval.Ticket, calls []approval.Question) []choice {
	list := []choice{{label: "Deny", cmd: approval.Command{Verb: approval.Deny}}}
	switch {
	case len(calls) == 0 || len(calls) != max(t.Calls, 1) || len(calls) > maxCardCalls:
	case slices.ContainsFunc(calls, func(q approval.Question) bool { return hides(q, len(calls) > 1) }):
	case len(calls) > 1:
		if !slices.ContainsFunc(calls, func(q approval.Question) bool { return q.Pick != nil }) {
			list = append(list, choice{label: fmt.Sprintf("Allow all %d, once", len(calls)), cmd: approval.Command{Verb: approval.Approve, Offer: firstOffer(calls[0])}})
		}
	case calls[0].Pick != nil:
		list = append(list, picks(calls[0])...)
	default:
		list = append(list, offers(calls[0])...)
	}
	for i := range list {
		c := &list[i]
		c.cmd.Tool, c.cmd.Ticket, c.cmd.Calls, c.cmd.Channel = approval.All, t.ID, max(t.Calls, 1), "telegram"
		if c.cmd.Verb == approval.Approve { // a denial is accepted even from an outdated card
			c.cmd.Seen = t.Seen
		}
		c.bound = append([]string{string(t.Session), strconv.Itoa(c.cmd.Calls), string(c.cmd.Verb), strconv.Itoa(c.cmd.Offer), c.cmd.Picked, c.cmd.Seen}, c.bound...)
		for _, q := range calls {
			c.bound = append(c.bound, q.Action.Tool.Agent, q.Action.Tool.Server, q.Action.Tool.Name, q.Action.ArgsDigest.String())
		}
	}
	return list
}

// restored returns the answers of a card of an earlier run, from the recorded data of its buttons.
// A file that was tampered with has no effect, because each button authenticates its data by a MAC.
func restored(n noted) []choice {
	var list []choice
	for _, b := range n.Bound {
		if len(b) < 6 || b[0] != string(n.Session) {
			continue
		}
		calls, err := strconv.Atoi(b[1])
		offer, wrong := strconv.Atoi(b[3])
		verb := approval.Verb(b[2])
		if err != nil || wrong != nil || verb != approval.Approve && verb != approval.Deny {
			continue
		}
		list = append(list, choice{bound: b, cmd: approval.Command{
			Verb: verb, Tool: approval.All, Ticket: floodmark.TicketID(n.Ticket), Calls: calls, Offer: offer, Picked: b[4], Seen: b[5], Channel: "telegram",
		}})
	}
	return list
}

func firstOffer(q approval.Question) int { return min(len(q.Offers), 1) }

// offers returns a choice for each approval that a call offers.
func offers(q approval.Question) []choice {
	if len(q.Offers) == 0 {
		return []choice{{label: "Allow once", cmd: approval.Command{Verb: approval.Approve}}}
	}
	var list []choice
	for i, o := range q.Offers {
		if i == approval.MaxOffers {
			break
		}
		c := choice{
			label: "Allow once", cmd: approval.Command{Verb: approval.Approve, Offer: i + 1},
			bound: []string{string(o.Scope), o.Pattern, o.For.String(), o.Words},
		}
		if q.Vouch != (approval.Origin{}) {
			c.label = "I vouch for it"
		}
		if o.Scope != floodmark.GrantOnce {
			c = c.named("Allow "+offerWords(o), fmt.Sprintf("Allow more (%d)", i), offerWords(o))
		}
		list = append(list, c)
	}
	return list
}

// offerWords returns the description of an offer, with its duration.
func offerWords(o approval.Offer) string {
	if o.For > 0 && !regexp.MustCompile(`\d+ ?(h|min|days)\b`).MatchString(o.Words) {
		return o.Words + ", for " + span(o.For)
	}
	return o.Words
}

// picks returns a choice for each value that the person picks from. Only one value is the call's.
func picks(q approval.Question) []choice {
	if slices.Contains(q.Pick.Among, "") {
		return nil
	}
	list := make([]choice, 0, len(q.Pick.Among))
	labels := map[string]bool{}
	for i, value := range q.Pick.Among {
		c := choice{cmd: approval.Command{Verb: approval.Approve, Offer: firstOffer(q), Picked: value}}
		c = c.named(value, fmt.Sprintf("Choice %d", i+1), value)
		labels[floodmark.Shorten(floodmark.Visible(value), maxLineRunes)] = true
		list = append(list, c)
	}
	if len(labels) != len(q.Pick.Among) {
		return nil // two labels are equal: no choice is possible
	}
	return list
}

// named sets the label of a choice's button. If words are too long for a button, the label is
// short, and the card's text explains it.
func (c choice) named(words, short, spelled string) choice {
	if words = floodmark.Visible(words); len([]rune(words)) <= wholeButton {
		c.label = words
		return c
	}
	c.label, c.spelled = short, spelled
	return c
}

// keyboardOf returns the buttons, each in a row of its own, so that nobody presses the wrong one by
// mistake.
func keyboardOf(key []byte, tag, kind, ticket string, list []choice) [][]Button {
	rows := make([][]Button, len(list))
	for i, c := range list {
		rows[i] = []Button{{Text: cutRunes(c.label, maxButtonRunes), Data: seal(key, tag, kind, ticket, c.bound)}}
	}
	return rows
}
