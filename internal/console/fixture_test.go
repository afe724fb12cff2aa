package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/agents/peer/peertest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	me      = 1000
	browser = 30 // the owner's, below the terminal
	shell   = 40 // of the agent's tool
)

// A house is a console whose processes and clock are the test's.
type house struct {
	*Console
	t         *testing.T
	tree      peertest.Tree
	guarded   *peer.Guarded
	now       time.Time
	at        int  // the process at the other end of every connection
	user      int  // and its user
	untold    bool // the system does not tell
	listens   bool // the process takes connections of others
	incidents []string
	served    []httpapi.Identity // whom the API was called by
	door      *door
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, tree: peertest.Agents(), now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), at: browser, user: me}
	h.tree.Plant(browser, 5, 300, "firefox", "firefox")
	h.tree.Shell(shell, 20)
	h.guarded = peer.NewGuarded(h.tree)
	h.guarded.NoteItself(h.tree.Trace(t, 20))
	gate := &peer.Gate{Table: h.tree, Guarded: h.guarded, Users: []int{me}, OfTCP: func(_, _ netip.AddrPort, users []int, _ peer.Process) (peer.Process, int, error) {
		switch {
		case h.untold:
			return peer.Process{}, 0, errors.ErrUnsupported
		case h.user != me:
			return peer.Process{}, h.user, fmt.Errorf("%w: it is another user's", peer.ErrUnknown)
		}
		p, err := h.tree.Look(h.at)
		return p.Process, h.user, err
	}}
	h.Console = New(Options{
		API:   http.HandlerFunc(h.api),
		Judge: gate.JudgeTCP, Listens: func(peer.Peer) bool { return h.listens }, Still: gate.Still, Person: httpapi.Terminal,
		Incident: func(_ context.Context, kind, text string) { h.incidents = append(h.incidents, kind+": "+text) },
		Log:      slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now },
	})
	h.door = &door{Options: h.opts, book: h.book, at: "127.0.0.1:4711", looking: make(chan struct{}, maxLooking)}
	return h
}

// api says who calls.
func (h *house) api(w http.ResponseWriter, r *http.Request) {
	who := httpapi.IdentityOf(r.Context())
	h.served = append(h.served, who)
	if who.May == 0 {
		w.WriteHeader(http.StatusUnauthorized)
	}
	fmt.Fprint(w, who.May)
}

// owner is a person at a terminal with these permissions.
func owner(may httpapi.May) httpapi.Identity {
	return httpapi.Identity{Name: "user 1000", Channel: httpapi.OwnerSocket, May: may}
}

// invite returns the code of a new link.
func (h *house) invite(may httpapi.May) string {
	h.t.Helper()
	a, err := h.OpenConsole(httpapi.AtTerminal(h.t.Context()), owner(may), &wire.OpenConsoleRequest{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { h.unserved() })
	_, code, ok := strings.Cut(a.GetLink(), "/#open=")
	if !ok || !strings.HasPrefix(a.GetLink(), "http://127.") {
		h.t.Fatalf("the link is %q", a.GetLink())
	}
	return code
}

// ask sends a request on a connection of its own, as our own page would, changed by change.
func (h *house) ask(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, "http://127.0.0.1:4711"+path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://127.0.0.1:4711")
	}
	if change != nil {
		change(r)
	}
	local, remote := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:4711")), net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:5000"))
	r = r.WithContext(withLine(r.Context(), addressed{ours: local, theirs: remote}))
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, r)
	return w
}

// addressed is a connection of which only the addresses matter.
type addressed struct {
	net.Conn
	ours, theirs net.Addr
}

func (a addressed) LocalAddr() net.Addr  { return a.ours }
func (a addressed) RemoteAddr() net.Addr { return a.theirs }

// login gives the code of a link back.
func (h *house) login(code string) (admission, int) {
	h.t.Helper()
	w := h.ask(http.MethodPost, loginPath, fmt.Sprintf(`{"code":%q}`, code), nil)
	var a admission
	if w.Code == http.StatusOK {
		strict := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&a); err != nil {
			h.t.Fatal(err)
		}
	}
	return a, w.Code
}

// status calls the API with a token.
func (h *house) status(token string) *httptest.ResponseRecorder {
	h.t.Helper()
	return h.ask(http.MethodPost, wire.OwnerServiceStatusProcedure, "{}", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
}

// builtFiles are the names of all files that are built in.
func builtFiles(t *testing.T) (names []string) {
	t.Helper()
	dist, err := fs.Sub(files, "dist")
	if err == nil {
		err = fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		})
	}
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}
