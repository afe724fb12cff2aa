package console

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// The limits of pages that people of an identity provider have open.
const (
	// spentTime is how long a code of the provider is known. Providers let codes live for ten minutes
	// at most (RFC 6749).
	spentTime = 10 * time.Minute
	maxSpent  = 8192 // codes; beyond it the oldest is forgotten, and the provider alone refuses it

	maxPages       = 2048 // of all people; beyond it there is no login
	maxPagesPerson = 16   // beyond it the one that was idle longest ends
)

var (
	errCodeTwice = errors.New("this login was used twice, so the page that it opened has ended: log in again")
	errFull      = errors.New("too many pages are open here: try again later")
)

// spend takes a code of the provider, before it is exchanged. Whoever brings a code a second time
// shows that it is in two hands, so the page that was first is logged out, or never logged in. opened reports, once, that
// the code had opened a page: anybody can bring an invented one twice.
func (b *book) spend(code string) (opened bool, err error) {
	hash := secret(sha256.Sum256([]byte(code)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	for i, was := range b.spent { // the time it takes tells of hashes, and nothing of a code
		if approval.SameDigest(floodmark.Digest(was.code), floodmark.Digest(hash)) {
			b.spent[i].twice = true
			b.drop(func(t *token) bool { return t.text == was.gave })
			return was.gave != secret{} && !was.twice, errCodeTwice
		}
	}
	if len(b.spent) >= maxSpent {
		b.spent = slices.Delete(b.spent, 0, len(b.spent)-maxSpent+1)
	}
	b.spent = append(b.spent, spent{code: hash, ends: b.now().Add(spentTime)})
	return false, nil
}

// enter returns the token of a page whose code was exchanged. It ends at ends.
func (b *book) enter(code string, s seat, ends time.Time) (string, error) {
	hash := secret(sha256.Sum256([]byte(code)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	at := slices.IndexFunc(b.spent, func(was spent) bool { return approval.SameDigest(floodmark.Digest(was.code), floodmark.Digest(hash)) })
	if at < 0 || b.spent[at].twice {
		return "", errCodeTwice
	}
	var own []*token
	for _, t := range b.open {
		if t.seat.who.Tenant == s.who.Tenant && t.seat.who.Name == s.who.Name {
			own = append(own, t)
		}
	}
	if len(own) >= maxPagesPerson {
		idle := slices.MinFunc(own, func(x, y *token) int { return cmp.Or(x.used.Compare(y.used), x.made.Compare(y.made)) })
		b.drop(func(t *token) bool { return t == idle })
	}
	if len(b.open) >= maxPages {
		return "", errFull
	}
	text, gave := b.seat(s, ends)
	b.spent[at].gave = gave
	return text, nil
}

// leave ends the token of a page whose person logs out.
func (b *book) leave(text string) {
	hash := secret(sha256.Sum256([]byte(text)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(func(t *token) bool { return t.text == hash })
}
