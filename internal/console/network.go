package console

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// A Login is one login of a browser at an identity provider.
type Login interface {
	// Where returns the address at the provider to which the browser goes.
	Where(ctx context.Context, l Leaving) (string, error)
	// LogIn returns the person who comes back, and when the page ends. With an error the person is
	// unknown; [httpapi.ErrNoToken] says that what was brought is to blame. Why is for the person.
	LogIn(ctx context.Context, r Returned) (httpapi.Identity, error)
}

// A Leaving is what a page drew before its browser goes to the provider. The page keeps State and
// the verifier of Challenge.
type Leaving struct {
	State     string `json:"state"`
	Nonce     string `json:"nonce"`
	Challenge string `json:"challenge"`
}

// Returned is what a page brings back from the provider, with what it kept.
type Returned struct {
	Code     string `json:"code"`
	Verifier string `json:"verifier"`
	Nonce    string `json:"nonce"`
}

// NetworkOptions are what a console on the network is made of.
type NetworkOptions struct {
	// API answers the pages. The caller is in the request's context.
	API http.Handler
	// Login logs people in.
	Login Login
	// Origin is the console's only name, as a browser writes it: https://host or https://host:port.
	Origin string
	// Incident records what should not have been tried.
	Incident func(ctx context.Context, kind, text string)
	Log      *slog.Logger
	Now      func() time.Time
}

// The limits of the network console.
const (
	maxNetworkConnections = 1024
	maxLoginsAtOnce       = 16
	maxReturnBytes        = 8 << 10
	// A stranger can leave every answer of a connection unread.
	maxAnswersAtOnce = 64               // on one connection
	answerTime       = 30 * time.Second // for all but the services, whose streams last
)

// pageMay is what a page of the network may do at most: what the pages show. Rules are published, and
// sessions erased and taken out, with a token that is in no browser.
const pageMay = httpapi.MayView | httpapi.MayApprove

// A Network is the console for people of an identity provider. It is a door of its own: there is no
// link, and it takes no token but those it gave. Unlike the console of this machine it cannot know
// which program asks, so its pages may not do what takes a person at this machine.
type Network struct {
	NetworkOptions

	book    *book
	tries   *tries
	logging chan struct{} // bounds the logins at once
}

// NewNetwork returns a console that nobody is logged in to.
func NewNetwork(o NetworkOptions) *Network {
	return &Network{NetworkOptions: o, book: newBook(o.Now), tries: newTries(o.Now), logging: make(chan struct{}, maxLoginsAtOnce)}
}

// ListenNetwork opens the address of a network console.
func ListenNetwork(ctx context.Context, address string, c *tls.Config) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(&room{Listener: l, most: maxNetworkConnections}, c), nil
}

// Server returns the server of the console, for one of [ListenNetwork]'s listeners.
func (n *Network) Server() *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return &http.Server{
		Handler: n, Protocols: p,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxAnswersAtOnce},
		ConnContext: withGuest, ErrorLog: slog.NewLogLogger(n.Log.Handler(), slog.LevelDebug),
	}
}

// End logs all pages out.
func (n *Network) End() { n.book.end() }

// A page asks at beginPath for the provider's address, and ends its token at logoutPath.
const (
	beginPath  = "/login/begin"
	logoutPath = "/logout"
)

// ServeHTTP implements [http.Handler].
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())
	api, want := strings.HasPrefix(r.URL.Path, apiPrefix), http.MethodGet
	// As for a door's; a writer without deadlines is a test's.
	control, until := http.NewResponseController(w), time.Time{}
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	if !api {
		until = time.Now().Add(answerTime)
	}
	_ = control.SetWriteDeadline(until) // or that of the request before would hold for a stream
	if api || r.URL.Path == loginPath || r.URL.Path == beginPath || r.URL.Path == logoutPath {
		want = http.MethodPost
	}
	if why := n.foreign(r); why != "" {
		http.Error(w, "refused: "+why, http.StatusForbidden)
		return
	}
	if r.Method != want {
		w.Header().Set("Allow", want)
		http.Error(w, "only "+want+" here", http.StatusMethodNotAllowed)
		return
	}
	switch {
	case api:
		n.serveAPI(w, r)
	case r.URL.Path == logoutPath:
		text, _ := bearer(r.Header.Get("Authorization"))
		n.book.leave(text)
		w.WriteHeader(http.StatusNoContent)
	case want == http.MethodPost:
		n.serveLogin(w, r)
	default:
		servePage(w, r)
	}
}

// foreign returns why a request is not one of our own page's; empty if it may be. The page itself
// may be reached from anywhere, such as the provider, but in no frame. A page of a stranger that has
// the browser ask for anything else is refused by what the browser says of it.
func (n *Network) foreign(r *http.Request) string {
	if "https://"+strings.TrimSuffix(r.Host, ":443") != n.Origin || r.TLS == nil {
		return "the console has another name than that; see console.url in service.yaml"
	}
	if name := twice(r.Header); name != "" {
		return name + " is there twice"
	}
	if o := r.Header.Get("Origin"); o != n.Origin && (o != "" || r.Method == http.MethodPost) {
		return "another page asks"
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.URL.Path != pagePath && site != "" && site != "same-origin":
		return "another page asks"
	case r.URL.Path == pagePath && !(unsaidOr(r, "Sec-Fetch-Mode", "navigate") && unsaidOr(r, "Sec-Fetch-Dest", "document")):
		return "the console is shown in a window of its own, and inside no other page"
	}
	return ""
}

// serveLogin answers the two steps of a login: where to go, and who came back.
func (n *Network) serveLogin(w http.ResponseWriter, r *http.Request) {
	if !n.tries.allow(r.RemoteAddr) {
		answer(w, http.StatusTooManyRequests, refusal{"too many logins were tried: wait a minute, then try again"})
		return
	}
	if r.URL.Path == beginPath {
		n.begin(w, r)
		return
	}
	n.login(w, r)
}

// enter counts a login among those at once, until leave is called. If there are too many, it answers
// so and returns false. A request is read before: one that comes slowly keeps nobody out.
func (n *Network) enter(w http.ResponseWriter) (leave func(), entered bool) {
	select {
	case n.logging <- struct{}{}:
		return func() { <-n.logging }, true
	default:
		answer(w, http.StatusTooManyRequests, refusal{"too many people log in at this moment: try again"})
		return nil, false
	}
}

// begin says where the browser goes to log in.
func (n *Network) begin(w http.ResponseWriter, r *http.Request) {
	var said Leaving
	if !readJSON(w, r, maxLoginBytes, `{"state": "…", "nonce": "…", "challenge": "…"}`, &said) {
		return
	}
	leave, entered := n.enter(w)
	if !entered {
		return
	}
	defer leave()
	where, err := n.Login.Where(r.Context(), said)
	if err != nil {
		n.refuse(w, "the page sent something that no login begins with: load it again", err)
		return
	}
	answer(w, http.StatusOK, struct {
		Go string `json:"go"`
	}{where})
}

// login takes a code of the provider and gives a token, once.
func (n *Network) login(w http.ResponseWriter, r *http.Request) {
	var said Returned
	if !readJSON(w, r, maxReturnBytes, `{"code": "…", "verifier": "…", "nonce": "…"}`, &said) {
		return
	}
	leave, entered := n.enter(w)
	if !entered {
		return
	}
	defer leave()
	if opened, err := n.book.spend(said.Code); err != nil {
		if opened {
			n.twice(r.Context())
		}
		n.refuse(w, "", err)
		return
	}
	who, err := n.Login.LogIn(r.Context(), said)
	if err != nil {
		n.refuse(w, who.Why, err)
		return
	}
	s := seat{who: httpapi.Identity{
		Tenant: who.Tenant, Name: httpapi.ByProvider + ":" + who.Name, Channel: httpapi.ByConsole, May: who.May & pageMay, Groups: who.Groups, Ends: who.Ends,
	}}
	if s.who.May == httpapi.MayView {
		s.why = "your role sees, and neither answers nor changes anything"
	}
	if !s.who.May.Has(httpapi.MayView) || who.Ends.IsZero() {
		n.refuse(w, "none of your groups has a role here", httpapi.ErrNoToken)
		return
	}
	text, err := n.book.enter(said.Code, s, who.Ends)
	if err != nil {
		if errors.Is(err, errCodeTwice) {
			n.twice(r.Context())
		}
		n.refuse(w, "", err)
		return
	}
	n.tries.greet(r.RemoteAddr)
	n.Log.Info("a person logged in to the console", "tenant", s.who.Tenant, "name", s.who.Name, "may", s.who.May.String(), "ends", who.Ends)
	answer(w, http.StatusOK, admission{Token: text, Name: s.who.Name, May: s.who.May, OnlyShows: s.why})
}

// twice records that a code which the provider gave was brought twice. An invented code is none.
func (n *Network) twice(ctx context.Context) {
	n.Incident(ctx, "console-login-twice", "a login to the console was used twice; the page that it opened first was logged out")
}

// refuse says why there is no token. why is for the person if err is [httpapi.ErrNoToken].
func (n *Network) refuse(w http.ResponseWriter, why string, err error) {
	switch {
	case errors.Is(err, errCodeTwice):
		answer(w, http.StatusUnauthorized, refusal{err.Error()})
	case errors.Is(err, errFull):
		answer(w, http.StatusServiceUnavailable, refusal{err.Error()})
	case errors.Is(err, httpapi.ErrNoToken):
		answer(w, http.StatusUnauthorized, refusal{why})
	default:
		n.Log.Warn("a login to the console failed", "error", err)
		answer(w, http.StatusServiceUnavailable, refusal{"the identity provider cannot be used now: try again, or ask the operator of this monitor"})
	}
}

// serveAPI answers a page that is logged in. Anyone else is answered by the services themselves: as
// nobody known.
func (n *Network) serveAPI(w http.ResponseWriter, r *http.Request) {
	text, _ := bearer(r.Header.Get("Authorization"))
	find := func(asks bool) (httpapi.Identity, <-chan struct{}, error) {
		s, gone, ok := n.book.find(text, asks)
		if !ok {
			return httpapi.Identity{Channel: httpapi.ByConsole, Why: "this page is not logged in, or no longer: log in again"}, nil, httpapi.ErrNoToken
		}
		return s.who, gone, nil
	}
	who, gone, err := find(true)
	if err == nil {
		known(r.Context(), who)
	}
	still := httpapi.Still{Gone: gone, Find: func() (httpapi.Identity, error) {
		now, _, err := find(false)
		return now, err
	}}
	n.API.ServeHTTP(w, httpapi.WithStill(r.WithContext(httpapi.WithIdentity(r.Context(), who)), still))
}

type guestKey struct{}

func withGuest(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, c)
}

// known says that a page which is logged in uses this connection, so that it stays open.
func known(ctx context.Context, who httpapi.Identity) {
	if g, ok := ctx.Value(guestKey{}).(*guest); ok {
		g.know(who.Tenant + "/" + who.Name) // with a slash in both, two people share their connections
	}
}
