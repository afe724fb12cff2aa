package wire

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// Lasts reports whether an approval of this scope outlives its session.
func Lasts(scope string) bool {
	return scope == string(floodmark.GrantHosts) || scope == string(floodmark.GrantHere)
}

// Always returns the number, from 1, of a question's offer for its whole repository. It returns 0
// if there is no such offer, or if the question shows several calls.
func Always(q *Question) int32 {
	if len(q.GetCalls()) != 1 {
		return 0
	}
	for i, o := range q.GetCalls()[0].GetOffers() {
		if Lasts(o.GetScope()) {
			return int32(min(i+1, 1<<10))
		}
	}
	return 0
}

// minGrantName is the least number of a ticket's last characters that names an approval.
const minGrantName = 4

// GrantNamed returns the approval whose ticket has this ending. It returns empty strings if there
// is none or more than one.
func GrantNamed(list []*Grant, end string) (session, ticket string) {
	for _, g := range list {
		if len(end) < minGrantName || !strings.HasSuffix(g.GetTicket(), end) || g.GetTicket() == ticket && g.GetSession() == session {
			continue
		}
		if ticket != "" {
			return "", ""
		}
		session, ticket = g.GetSession(), g.GetTicket()
	}
	return session, ticket
}

// AlwaysNamed returns [Always] of the first question whose code and ticket satisfy means.
func AlwaysNamed(list []*Question, means func(code, ticket string) bool) int32 {
	for _, q := range list {
		if means(q.GetCode(), q.GetTicket()) {
			return Always(q)
		}
	}
	return 0
}
