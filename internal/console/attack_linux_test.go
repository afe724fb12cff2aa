package console

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// TestNobodyWasAtThisAddress: what a program left in the owner's browser under 127.0.0.1, at any
// port, is not asked when the console is opened, because it is another origin each time.
func TestNobodyWasAtThisAddress(t *testing.T) {
	seen := map[netip.Addr]bool{netip.MustParseAddr("127.0.0.1"): true}
	for range 8 {
		l, err := listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddrPort(l.Addr().String())
		if !at.Addr().IsLoopback() || seen[at.Addr()] || strings.HasSuffix(at.Addr().String(), ".255") {
			t.Errorf("it listens at %s", at)
		}
		seen[at.Addr()] = true
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStolenLinkShows: whoever took the link first is logged out when the owner's browser brings
// it, and the attempt is an incident.
func TestAStolenLinkShows(t *testing.T) {
	h := newHouse(t)
	code := h.invite(httpapi.OwnerMay)
	other, _ := h.login(h.invite(httpapi.OwnerMay))
	thief, status := h.login(code)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	for range maxTries {
		h.login("wrong") // so that nobody else's link works
	}
	h.incidents = nil
	if _, again := h.login(code); again != http.StatusUnauthorized {
		t.Errorf("the second use: %d", again)
	}
	if w := h.status(thief.Token); w.Code != http.StatusUnauthorized {
		t.Errorf("the page that was first: %d", w.Code)
	}
	if w := h.status(other.Token); w.Code != http.StatusOK {
		t.Errorf("the page of another link: %d", w.Code)
	}
	if len(h.incidents) != 1 || !strings.HasPrefix(h.incidents[0], "console-link-twice: ") {
		t.Errorf("incidents: %q", h.incidents)
	}
	h.now = h.now.Add(CodeTime)
	h.invite(httpapi.OwnerMay) // counts wrong codes anew
	h.login(code)
	if len(h.incidents) != 1 || len(h.book.spent) != 0 {
		t.Errorf("an old link: %q, %d known", h.incidents, len(h.book.spent))
	}
}

// TestSearchesAreBounded: who connects waits while others are looked up, and no longer once it
// hangs up.
func TestSearchesAreBounded(t *testing.T) {
	h := newHouse(t)
	for range maxLooking {
		h.door.looking <- struct{}{}
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if w := h.ask(http.MethodGet, "/", "", func(r *http.Request) { *r = *r.WithContext(gone) }); w.Code != http.StatusForbidden {
		t.Errorf("whoever hung up: %d", w.Code)
	}
	<-h.door.looking
	if w := h.ask(http.MethodGet, "/", "", nil); w.Code != http.StatusOK {
		t.Errorf("the owner's browser: %d", w.Code)
	}
}

// TestNoLoginThroughOthers: a dev server or a forwarded port of the owner's passes on what an agent
// sends, and the link stays good for the owner's browser.
func TestNoLoginThroughOthers(t *testing.T) {
	h := newHouse(t)
	code := h.invite(httpapi.OwnerMay)
	h.listens = true
	if _, status := h.login(code); status != http.StatusForbidden {
		t.Errorf("through a proxy: %d", status)
	}
	if len(h.incidents) != 1 || !strings.HasPrefix(h.incidents[0], "console-relay: ") {
		t.Errorf("incidents: %q", h.incidents)
	}
	h.listens = false
	if _, status := h.login(code); status != http.StatusOK {
		t.Errorf("the owner's browser: %d", status)
	}
}
