package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// A door stands before everything the console serves. Who may pass is decided anew for every
// request: by the process behind the connection, then by what the browser says of the page that
// asks, and for the API by the page's token. There are no cookies, which a browser would also send
// to another port of this machine.
type door struct {
	Options

	book *book
	at   string // address and port, the only name of the console
	// looking bounds how many connections are looked up at once: a search goes through all processes,
	// and whoever connects begins one.
	looking chan struct{}

	mu    sync.Mutex // guards guess
	guess peer.Process
}

// A line is one connection. The process that opened it is looked up once.
type line struct {
	conn         net.Conn
	once         sync.Once
	ours, theirs net.Addr
	who          peer.Caller
	told         bool // the system tells who it is
}

type lineKey struct{}

func withLine(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, lineKey{}, &line{conn: c, ours: c.LocalAddr(), theirs: c.RemoteAddr()})
}

// The parts of the console: one page with its files, the login, and the services.
const (
	pagePath  = "/"
	loginPath = "/login"
	apiPrefix = "/floodmark.v1."
)

// ServeHTTP implements [http.Handler].
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())
	caller, told := d.caller(r)
	// What is not read of a request is read after its answer, and a client that sends nothing more would
	// keep its connection. The services set a time of their own. A writer without deadlines is a test's.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	if told && !caller.Owner() {
		if caller.PID != 0 || !gone(r) {
			d.Incident(r.Context(), caller.Kind, fmt.Sprintf("%.100q was tried at the console by %s: %s", r.URL.Path, caller.Line(), caller.Why))
		}
		w.Header().Set("Connection", "close")
		http.Error(w, "refused: "+caller.Why, http.StatusForbidden)
		return
	}
	if why := d.foreign(r); why != "" {
		http.Error(w, "refused: "+why, http.StatusForbidden)
		return
	}
	api := strings.HasPrefix(r.URL.Path, apiPrefix)
	want := http.MethodGet
	if api || r.URL.Path == loginPath {
		want = http.MethodPost
	}
	if r.Method != want {
		w.Header().Set("Allow", want)
		http.Error(w, "only "+want+" here", http.StatusMethodNotAllowed)
		return
	}
	only := ""
	if !told {
		only = untold
	}
	switch {
	case api:
		d.serveAPI(w, r, caller, only)
	case r.URL.Path == loginPath:
		d.login(w, r, caller, only)
	default:
		servePage(w, r)
	}
}

// caller returns the process behind a request. It returns false if this system does not tell.
func (d *door) caller(r *http.Request) (_ peer.Caller, told bool) {
	l, ok := r.Context().Value(lineKey{}).(*line)
	if !ok {
		return peer.Caller{Kind: "unknown-peer", Why: "it is not known who is there"}, true
	}
	l.once.Do(func() {
		select {
		case d.looking <- struct{}{}:
			l.who, l.told = d.lookUp(l)
			<-d.looking
		case <-r.Context().Done():
			l.who, l.told = peer.Caller{Kind: "unknown-peer", Why: "it hung up"}, true
		}
	})
	if !l.told {
		return peer.Caller{}, false
	}
	return d.Still(l.who), true
}

// gone reports whether a client has hung up. The system has no more process for its connection then,
// which is no incident: browsers do that when a page is left.
func gone(r *http.Request) bool {
	if r.Context().Err() != nil {
		return true
	}
	l, ok := r.Context().Value(lineKey{}).(*line)
	return ok && hungUp(l.conn)
}

// lookUp finds the process at the other end. The last one that was the owner's is looked at first,
// because a browser opens many connections and a search of all processes takes long.
func (d *door) lookUp(l *line) (_ peer.Caller, told bool) {
	ours, err := netip.ParseAddrPort(l.ours.String())
	theirs, err2 := netip.ParseAddrPort(l.theirs.String())
	if err := errors.Join(err, err2); err != nil {
		return peer.Caller{Kind: "unknown-peer", Why: err.Error()}, true
	}
	d.mu.Lock()
	guess := d.guess
	d.mu.Unlock()
	who, told := d.Judge(ours, theirs, guess)
	if !told || !who.Owner() {
		return who, told
	}
	d.mu.Lock()
	d.guess = who.Process
	d.mu.Unlock()
	if g, ok := l.conn.(*guest); ok {
		g.known.Store(true)
	}
	return who, true
}

// foreign returns why a request is not one of our own page's; empty if it may be. A browser says
// which site asks, and no page can change that. The name in Host keeps out pages whose own name
// was made to lead to this machine, and the name localhost, which leads to ::1 as well, where the
// same port is anybody's.
func (d *door) foreign(r *http.Request) string {
	if r.Host != d.at {
		return "the console has another name than that; use the link of «floodmark open»"
	}
	if name := twice(r.Header); name != "" {
		return name + " is there twice"
	}
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return "another page asks"
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if r.URL.Path != pagePath {
		if site != "" && site != "same-origin" {
			return "another page asks"
		}
		return ""
	}
	switch {
	case site != "" && site != "none" && site != "same-origin":
		return "another page leads here; copy the link of «floodmark open» into the address bar"
	case !unsaidOr(r, "Sec-Fetch-Mode", "navigate"), !unsaidOr(r, "Sec-Fetch-Dest", "document"):
		return "the console is shown in a window of its own, and inside no other page"
	}
	return ""
}

// twice names a header that counts and is there more than once; empty if there is none.
func twice(h http.Header) string {
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Authorization", "Content-Type"} {
		if len(h.Values(name)) > 1 {
			return name
		}
	}
	return ""
}

func unsaidOr(r *http.Request, name, want string) bool {
	said := r.Header.Get(name)
	return said == "" || said == want
}

// harden sets what every answer says to the browser. Answers that may be kept change Cache-Control.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
}

// policy lets the page load its own files and ask its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html floodmark-worker"

// The limits of a request: the bytes of a login, and the time that a client may take to send what follows
// the headers.
const (
	maxLoginBytes = 1 << 10
	bodyTime      = 5 * time.Second
)

// An admission is the answer to a login.
type admission struct {
	Token string `json:"token"`
	// Name is the owner's; May are the permissions.
	Name string      `json:"name"`
	May  httpapi.May `json:"may"`
	// OnlyShows is why the page can answer and change nothing; empty if it can.
	OnlyShows string `json:"onlyShows"`
}

// login takes the code of a link and gives a token, once.
func (d *door) login(w http.ResponseWriter, r *http.Request, caller peer.Caller, only string) {
	if only == "" && d.Listens(caller.Peer) {
		d.Incident(r.Context(), "console-relay", "a login to the console was tried through "+caller.Line()+", which takes connections of others")
		answer(w, http.StatusForbidden, refusal{relays})
		return
	}
	var said struct {
		Code string `json:"code"`
	}
	if !readJSON(w, r, maxLoginBytes, `{"code": "…"}`, &said) {
		return
	}
	text, s, err := d.book.admit(said.Code, only)
	switch {
	case errors.Is(err, errTwice):
		d.Incident(r.Context(), "console-link-twice", "a link to the console was used twice; the page that it opened first was logged out")
		answer(w, http.StatusUnauthorized, refusal{err.Error()})
	case errors.Is(err, errTooMany):
		d.Incident(r.Context(), "console-codes", "too many wrong links were tried at the console; all were ended")
		answer(w, http.StatusTooManyRequests, refusal{err.Error()})
	case err != nil:
		answer(w, http.StatusUnauthorized, refusal{err.Error()})
	default:
		answer(w, http.StatusOK, admission{Token: text, Name: s.who.Name, May: s.who.May, OnlyShows: s.why})
	}
}

// readJSON reads the body of a login. If it is not what our page sends, it answers so and returns
// false.
func readJSON(w http.ResponseWriter, r *http.Request, most int64, form string, into any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		answer(w, http.StatusUnsupportedMediaType, refusal{"send application/json"})
		return false
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // or it would end the request while it is answered
		strict := json.NewDecoder(bytes.NewReader(data))
		strict.DisallowUnknownFields()
		err = strict.Decode(into)
	}
	if err != nil {
		answer(w, http.StatusBadRequest, refusal{"send " + form})
		return false
	}
	return true
}

// relays is why a program that takes connections is not logged in. It takes nothing from the link.
const relays = "this program takes connections of others (a proxy, a forwarded port, or a browser that can be driven from outside), " +
	"so it may speak for them: open the link in a browser without that"

// A refusal says why there is no token.
type refusal struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, code int, m any) {
	data, err := json.Marshal(m)
	if err != nil {
		http.Error(w, "not written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(data) // the page may be gone
}

// serveAPI answers a page that is logged in. Anyone else is answered by the services themselves: as
// nobody known.
func (d *door) serveAPI(w http.ResponseWriter, r *http.Request, caller peer.Caller, only string) {
	text, _ := bearer(r.Header.Get("Authorization"))
	find := func(asks bool) (httpapi.Identity, <-chan struct{}, error) {
		s, gone, ok := d.book.find(text, asks)
		if !ok {
			return httpapi.Identity{Why: loggedOut}, nil, httpapi.ErrNoToken
		}
		if only != "" {
			s.only(only)
		} else if now := d.Still(caller); !now.Owner() {
			return httpapi.Identity{Why: now.Why}, nil, httpapi.ErrNoToken
		}
		return s.who, gone, nil
	}
	who, gone, err := find(true)
	if err != nil {
		who = httpapi.Identity{Channel: httpapi.ByConsole, Why: who.Why}
	}
	still := httpapi.Still{Gone: gone, Find: func() (httpapi.Identity, error) {
		now, _, err := find(false)
		return now, err
	}}
	d.API.ServeHTTP(w, httpapi.WithStill(r.WithContext(httpapi.WithIdentity(r.Context(), who)), still))
}

const loggedOut = "this page is not logged in, or no longer: run «floodmark open»"

// bearer returns the token of an Authorization header.
func bearer(said string) (string, bool) {
	scheme, text, _ := strings.Cut(said, " ")
	if !strings.EqualFold(scheme, "bearer") || !strings.HasPrefix(text, tokenPrefix) {
		return "", false
	}
	return text, true
}
