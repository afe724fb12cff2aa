package mcplogin

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Holder returns the token of the login at one server, and renews it. It begins no login: if one
// is needed, its errors say that the owner has to log in.
type Holder struct {
	book   *Book
	server Server

	mu  sync.Mutex // held during a renewal, so that concurrent callers use its result
	own given      // the tokens of a machine's login, which are not stored in the file
}

// Holder returns a Holder for a server.
func (b *Book) Holder(s Server) *Holder { return &Holder{book: b, server: s} }

// Show returns the token for the server, or "" if there is none. It renews a token that is about to
// expire.
func (h *Holder) Show(ctx context.Context) (string, error) {
	if h.server.Machine {
		return h.machine(ctx, "")
	}
	l, ok, err := h.book.of(h.server)
	if err != nil || !ok {
		return "", err
	}
	if l.Refresh == "" || l.Until.IsZero() || h.book.now().Before(l.Until.Add(-ahead)) {
		return string(l.Access), nil
	}
	renewed, err := h.renew(ctx, l.Access)
	if err != nil && h.book.now().Before(l.Until) {
		return string(l.Access), nil // it is still valid for a moment
	}
	return renewed, err
}

// Refused returns another token after the server refused the shown one, or refused a request
// without a token. If there is no other, the error says what the owner can do.
func (h *Holder) Refused(ctx context.Context, shown string) (string, error) {
	if h.server.Machine {
		return h.machine(ctx, shown)
	}
	return h.renew(ctx, key(shown))
}

// renew returns a token that differs from old: one that another process has got meanwhile, or a new
// one.
func (h *Holder) renew(ctx context.Context, old key) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// Only one process renews at a time, because an issuer may take a second use of a refresh token
	// for a theft.
	wait, cancel := context.WithTimeout(ctx, callTime+waitTime)
	defer cancel()
	l, ok, err := h.book.of(h.server)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", errors.Join(h.server.wanted("no one has logged in"), h.book.wants(ctx, h.server))
	}
	free, err := wholefile.Lock(wait, h.book.path+"."+h.server.Name+".lock")
	if err != nil {
		return "", errors.New("others are logging in there; try again")
	}
	defer func() { _ = free() }() // the system frees it when the process ends
	l, ok, err = h.book.of(h.server)
	switch {
	case err != nil:
		return "", err
	case ok && l.Access != old:
		return string(l.Access), nil
	case !ok || l.Refresh == "":
		return "", errors.Join(h.server.wanted("the login has ended"), h.book.wants(ctx, h.server))
	}
	c, err := h.server.client()
	if err != nil {
		return "", err
	}
	defer c.CloseIdleConnections()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {string(l.Refresh)}}
	got, err := exchange(ctx, c, h.book.now(), l, form)
	if errors.Is(err, errRefused) {
		return "", errors.Join(h.server.wanted("the login has ended"), h.book.wants(ctx, h.server))
	}
	if err != nil {
		return "", err
	}
	l.Access, l.Until, l.Wanted = got.access, got.until, false
	if got.refresh != "" {
		l.Refresh = got.refresh
	}
	// The new tokens must be stored even if the request was cancelled.
	err = h.book.change(context.WithoutCancel(ctx), func(all map[string]login) {
		if now, still := all[h.server.Name]; still && now.holds(h.server) { // not logged out meanwhile
			all[h.server.Name] = l
		}
	})
	return string(l.Access), err
}

// machine returns the token of a login without a person. It logs in again if the token was refused
// or is about to expire.
func (h *Holder) machine(ctx context.Context, refused string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.book.now()
	fresh := h.own.until.IsZero() || now.Before(h.own.until.Add(-ahead))
	if h.own.access != "" && string(h.own.access) != refused && fresh {
		return string(h.own.access), nil
	}
	got, err := h.machineLogin(ctx, now)
	if err != nil {
		return "", h.server.wanted(err.Error())
	}
	h.own = got
	return string(got.access), nil
}

func (h *Holder) machineLogin(ctx context.Context, now time.Time) (given, error) {
	s := h.server
	if s.Issuer == "" || s.ClientID == "" || s.Secret == nil {
		return given{}, errors.New("issuer, client_id and client_secret are needed")
	}
	c, err := s.client()
	if err != nil {
		return given{}, err
	}
	defer c.CloseIdleConnections()
	meta, err := s.issuer(ctx, c, s.Issuer)
	if err != nil {
		return given{}, err
	}
	l, err := s.register(ctx, c, place{resource: s.URL, meta: meta}, "")
	if err != nil {
		return given{}, err
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(s.Scopes) > 0 {
		form.Set("scope", strings.Join(s.Scopes, " "))
	}
	return exchange(ctx, c, now, l, form)
}
