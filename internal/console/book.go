package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

const (
	// CodeTime is how long a link works.
	CodeTime = time.Minute
	// MaxIdle is how long a page stays logged in without asking for anything. A stream that goes on
	// asks for nothing.
	MaxIdle = 12 * time.Hour
	// MaxAge is how long a page stays logged in at most.
	MaxAge = 7 * 24 * time.Hour

	maxCodes  = 4  // links that nobody opened yet; beyond it the oldest ends
	maxTokens = 16 // pages that are logged in; beyond it the one that was idle longest ends
	// maxTries is how many wrong codes end all links. A code cannot be guessed, so a wrong one is a
	// mistake or an attempt.
	maxTries    = 8
	secretBytes = 32
	// tokenPrefix begins every token, so that it is found in texts where no token may be.
	tokenPrefix = "fm_console_"
)

// A seat is what a page may do, and why it can do less than its owner.
type seat struct {
	who httpapi.Identity
	why string // why it only shows; empty if it does not
}

// only reduces a seat to showing.
func (s *seat) only(why string) {
	s.who.May &= httpapi.MayView
	if s.why == "" {
		s.why = why
	}
}

// A secret is stored by its hash only.
type secret [sha256.Size]byte

// An invitation is a link that nobody opened yet.
type invitation struct {
	code secret
	seat seat
	ends time.Time
}

// A spent code is one that opened a page. It is known until its link would have ended.
type spent struct {
	code, gave secret
	ends       time.Time
	twice      bool // it was brought again
}

// A token is a page that is logged in.
type token struct {
	text       secret
	seat       seat
	made, used time.Time
	ends       time.Time     // when it ends whatever the page does; zero: MaxAge after it was made
	gone       chan struct{} // closed when the token ends
}

// A book holds the links and the pages of a console, in memory only: they end with the monitor.
type book struct {
	now func() time.Time

	mu    sync.Mutex // guards the fields below
	codes []invitation
	spent []spent
	open  []*token
	tries int // wrong codes since the last link
}

func newBook(now func() time.Time) *book { return &book{now: now} }

// draw returns a secret of 256 bits as text.
func draw() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails: without randomness the program crashes
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// invite returns a code for a seat, and when it ends.
func (b *book) invite(s seat) (code string, ends time.Time) {
	code = draw()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	b.tries = 0
	if len(b.codes) >= maxCodes {
		b.codes = slices.Delete(b.codes, 0, len(b.codes)-maxCodes+1)
	}
	ends = b.now().Add(CodeTime)
	b.codes = append(b.codes, invitation{sha256.Sum256([]byte(code)), s, ends})
	return code, ends
}

var (
	errTwice   = errors.New("this link was used twice, so all that it opened has ended: look at the incidents, and run «floodmark open» once more")
	errNoCode  = errors.New("this link was used or is older than a minute: run «floodmark open» once more")
	errTooMany = errors.New("too many wrong links: run «floodmark open» once more")
)

// admit turns a code into a token. The code is gone then, and after too many wrong ones all are. Who
// brings a code a second time shows that it is in two hands, so the page that was first is logged out.
// only, unless empty, is why the token only shows.
func (b *book) admit(code, only string) (text string, s seat, err error) {
	hash := secret(sha256.Sum256([]byte(code)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	for _, was := range b.spent {
		if approval.SameDigest(floodmark.Digest(was.code), floodmark.Digest(hash)) {
			b.drop(func(t *token) bool { return t.text == was.gave })
			return "", seat{}, errTwice
		}
	}
	if b.tries >= maxTries {
		return "", seat{}, errTooMany
	}
	found := -1
	for i := range b.codes { // all, so that the time it takes tells nothing
		if approval.SameDigest(floodmark.Digest(b.codes[i].code), floodmark.Digest(hash)) {
			found = i
		}
	}
	if found < 0 {
		if b.tries++; b.tries >= maxTries {
			b.codes = nil
		}
		return "", seat{}, errNoCode
	}
	s = b.codes[found].seat
	ends := b.codes[found].ends
	b.codes = slices.Delete(b.codes, found, found+1)
	if only != "" {
		s.only(only)
	}
	if len(b.open) >= maxTokens {
		oldest := slices.MinFunc(b.open, func(x, y *token) int { return x.used.Compare(y.used) })
		b.drop(func(t *token) bool { return t == oldest })
	}
	text, gave := b.seat(s, time.Time{})
	b.spent = append(b.spent, spent{code: hash, gave: gave, ends: ends})
	return text, s, nil
}

// seat returns a new token, and its hash.
func (b *book) seat(s seat, ends time.Time) (text string, gave secret) {
	text, now := tokenPrefix+draw(), b.now()
	gave = sha256.Sum256([]byte(text))
	b.open = append(b.open, &token{text: gave, seat: s, made: now, used: now, ends: ends, gone: make(chan struct{})})
	return text, gave
}

// find returns the seat of a token, and a channel that is closed when it ends. asks says that the
// page asks for something, so that it is not idle.
func (b *book) find(text string, asks bool) (seat, <-chan struct{}, bool) {
	hash := secret(sha256.Sum256([]byte(text)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	var found *token
	for _, t := range b.open {
		if approval.SameDigest(floodmark.Digest(t.text), floodmark.Digest(hash)) {
			found = t
		}
	}
	if found == nil {
		return seat{}, nil, false
	}
	if asks {
		found.used = b.now()
	}
	return found.seat, found.gone, true
}

// end ends all links and pages, and returns how many pages there were.
func (b *book) end() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidy()
	n := len(b.open)
	b.codes = nil
	b.drop(func(*token) bool { return true })
	return n
}

// tidy drops what is too old.
func (b *book) tidy() {
	now := b.now()
	b.codes = slices.DeleteFunc(b.codes, func(i invitation) bool { return !now.Before(i.ends) })
	b.spent = slices.DeleteFunc(b.spent, func(s spent) bool { return !now.Before(s.ends) })
	b.drop(func(t *token) bool {
		return now.Sub(t.used) >= MaxIdle || now.Sub(t.made) >= MaxAge || !t.ends.IsZero() && !now.Before(t.ends)
	})
}

func (b *book) drop(is func(*token) bool) {
	b.open = slices.DeleteFunc(b.open, func(t *token) bool {
		if !is(t) {
			return false
		}
		close(t.gone)
		return true
	})
}
