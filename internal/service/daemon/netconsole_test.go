package daemon

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A browsed is a fleet with a console on the network, and a browser of one of its people.
type browsed struct {
	*fleet
	idp   *oidctest.Provider
	at    string // the address that the console listens at
	later atomic.Int64
}

const consoleOrigin = "https://console.example"

func newBrowsed(t *testing.T, change func(*Options)) *browsed {
	t.Helper()
	b := &browsed{}
	listen, pool := certificate(t, t.TempDir())
	b.fleet, b.idp = newPeople(t, func(o *Options) {
		o.Now = func() time.Time { return now().Add(time.Duration(b.later.Load())) }
		o.Service.People.Scopes = []string{"groups", "offline_access"}
		o.Service.Console = &config.Console{URL: consoleOrigin, Listen: listen, ClientID: "floodmark-console"}
		change(o)
	})
	b.at = "https://" + b.d.networkConsole.Addr().String()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	// Everything of the fleet's that calls the API calls it at the console from now on.
	other := *b.fleet
	other.base, other.web = b.at, &http.Client{Transport: asBrowser{transport}}
	b.fleet = &other
	return b
}

// asBrowser sends what a browser says of our own page.
type asBrowser struct{ next http.RoundTripper }

func (a asBrowser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = strings.TrimPrefix(consoleOrigin, "https://")
	if r.Method == http.MethodPost {
		r.Header.Set("Origin", consoleOrigin)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return a.next.RoundTrip(r)
}

// post sends JSON and returns the status and the answer.
func (b *browsed) post(path, body string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.at+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.web.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// claims are those of anna's ID token, in groups of acme.
func (b *browsed) claims(groups ...string) map[string]any {
	c := b.idp.Claims("floodmark-console", b.d.opts.Now())
	c["groups"] = groups
	return c
}

func drawn(letter string) string { return strings.Repeat(letter, 43) }

// leave goes to the provider as a person with these claims, and returns the code.
func (b *browsed) leave(claims map[string]any) string {
	b.t.Helper()
	b.idp.Browse(claims)
	sum := sha256.Sum256([]byte(drawn("v")))
	status, body := b.post("/login/begin", `{"state":"`+drawn("s")+`","nonce":"`+drawn("n")+`","challenge":"`+base64.RawURLEncoding.EncodeToString(sum[:])+`"}`)
	var said struct{ Go string }
	if err := json.Unmarshal([]byte(body), &said); err != nil || status != http.StatusOK || strings.Contains(said.Go, "offline_access") {
		b.t.Fatalf("%d: %s, %v", status, body, err)
	}
	back, err := b.idp.Visit(said.Go)
	if err != nil || back.Get("state") != drawn("s") {
		b.t.Fatalf("%v, %v", back, err)
	}
	return back.Get("code")
}

// enter brings a code back.
func (b *browsed) enter(code, verifier, nonce string) (status int, body string) {
	b.t.Helper()
	return b.post("/login", `{"code":"`+code+`","verifier":"`+verifier+`","nonce":"`+nonce+`"}`)
}

// An admitted is what the console says to a page that is logged in.
type admitted struct {
	Token, Name, OnlyShows string
	May                    httpapi.May
}

// login logs a person in.
func (b *browsed) login(claims map[string]any) admitted {
	b.t.Helper()
	status, body := b.enter(b.leave(claims), drawn("v"), drawn("n"))
	var a admitted
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != http.StatusOK || !strings.HasPrefix(a.Token, "fm_console_") {
		b.t.Fatalf("%d: %s, %v", status, body, err)
	}
	return a
}

// page is the API as a page calls it.
func (b *browsed) page(token string) wire.OwnerServiceClient {
	return wire.NewOwnerServiceClient(b.web, b.at, connect.WithProtoJSON(), connect.WithInterceptors(bearerOf(token)))
}

// asked makes an agent of a tenant ask a question.
func (b *browsed) asked(tenant string, s floodmark.SessionID) {
	b.t.Helper()
	text, _, err := b.tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Tenant: tenant, Name: "agent", May: httpapi.MayEvents})
	if err != nil {
		b.t.Fatal(err)
	}
	direct := &fleet{t: b.t, base: "https://" + b.d.network[0].listener.Addr().String(), pool: b.pool}
	c := direct.by(text)
	poison(b.t, c, s)
	if got := tell(b.t, c, run(s)); got.Decision.Verdict != floodmark.Confirm {
		b.t.Fatalf("nothing was asked: %+v", got.Decision)
	}
}

// TestAPersonLogsInToTheConsole: an approver sees and answers the questions of the own tenant, and
// the journal has the name that the provider proved.
func TestAPersonLogsInToTheConsole(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(*Options) {})
	b.asked("acme", "s1")
	b.asked("beta", "s2")
	a := b.login(b.claims("engineering", "oncall"))
	if a.Name != "oidc:anna" || a.May != httpapi.MayView|httpapi.MayApprove || a.OnlyShows != "" {
		t.Errorf("%+v", a)
	}
	page := b.page(a.Token)
	pending, err := page.Pending(t.Context(), &wire.PendingRequest{})
	if err != nil || len(pending.GetQuestions()) != 1 || pending.GetQuestions()[0].GetSession() != "s1" || pending.GetQuestions()[0].GetCode() != "" {
		t.Fatalf("%v, %v", pending, err)
	}
	q := pending.GetQuestions()[0]
	say := &wire.AnswerRequest{Session: q.GetSession(), Ticket: q.GetTicket(), Verb: "approve", Calls: int32(len(q.GetCalls()))}
	if got, err := page.Answer(t.Context(), say); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("unseen: %v, %v", got, err)
	}
	say.Seen = q.GetSeen()
	if got, err := page.Answer(t.Context(), say); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	var said []floodmark.TicketAnswered
	for e, err := range b.d.store.Read(t.Context(), journal.Session{Tenant: "acme", ID: "s1"}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if f, err := e.Fact(); err != nil {
			t.Error(err)
		} else if f, ok := f.(floodmark.TicketAnswered); ok {
			said = append(said, f)
		}
	}
	if len(said) != 1 || said[0].By != "oidc:anna" || said[0].Channel != "console" || said[0].Verdict != floodmark.Allow {
		t.Errorf("the journal says %+v", said)
	}
	if s, err := page.Status(t.Context(), &wire.StatusRequest{}); err != nil || s.GetTenant() != "acme" || s.GetCaller() != "oidc:anna" || len(s.GetMay()) != 2 {
		t.Errorf("%v, %v", s, err)
	}
	if got, err := page.Show(t.Context(), &wire.ShowRequest{Session: "s2"}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("another tenant's session: %v, %v", got, err)
	}
	if strings.Contains(b.log.String(), "eyJ") || strings.Contains(b.log.String(), a.Token) {
		t.Error("a token is in the log")
	}
}

// TestARoleThatOnlySees: the server refuses what the page does not show.
func TestARoleThatOnlySees(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(*Options) {})
	b.asked("acme", "s1")
	a := b.login(b.claims("engineering"))
	if a.May != httpapi.MayView || a.OnlyShows == "" {
		t.Errorf("%+v", a)
	}
	page := b.page(a.Token)
	pending, err := page.Pending(t.Context(), &wire.PendingRequest{})
	if err != nil || len(pending.GetQuestions()) != 1 {
		t.Fatalf("%v, %v", pending, err)
	}
	q := pending.GetQuestions()[0]
	for _, verb := range []string{"approve", "deny"} {
		_, err := page.Answer(t.Context(), &wire.AnswerRequest{Session: q.GetSession(), Ticket: q.GetTicket(), Verb: verb, Calls: 1, Seen: q.GetSeen()})
		if connect.CodeOf(err) != connect.CodePermissionDenied || !strings.Contains(err.Error(), "it takes the role approver") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if pending, err := page.Pending(t.Context(), &wire.PendingRequest{}); err != nil || len(pending.GetQuestions()) != 1 {
		t.Errorf("%v, %v", pending, err)
	}
	if n := incidents(t, b.d, "not-permitted"); n == 0 {
		t.Error("what was tried is not written down")
	}
}

// TestEveryRoleAtTheConsole: every call of the API in every role of another tenant, as over the
// network. What takes a person at this machine is refused to all.
func TestEveryRoleAtTheConsole(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(o *Options) { o.Service.Console.MaxAge = config.Days(time.Hour) })
	home := *b.fleet
	home.base = "https://" + b.d.network[0].listener.Addr().String()
	home.web = &http.Client{Transport: &http.Transport{TLSClientConfig: b.trust()}}
	t.Cleanup(home.web.CloseIdleConnections)
	at := home.plant()
	before := b.heads("acme")
	for group, may := range map[string]httpapi.May{
		"engineering": httpapi.MayView, "oncall": httpapi.MayView | httpapi.MayApprove,
		"security": httpapi.MayView, "platform": httpapi.MayView,
	} {
		claims := b.claims(group)
		claims["org"], claims["sub"] = "beta", "eve"
		token := b.login(claims).Token
		for _, file := range []protoreflect.FileDescriptor{wire.File_floodmark_v1_owner_proto, wire.File_floodmark_v1_console_proto} {
			all := file.Services().Get(0).Methods()
			for i := range all.Len() {
				m := all.Get(i)
				for n, body := range append(aimed(t, m, at), []byte("{}")) {
					b.stranger(m, "beta", token, may, body, n)
				}
			}
		}
		for _, m := range methods() {
			if m.Parent().Name() != "OwnerService" && !strings.Contains(b.call(m, token, []byte("{}")), "404") {
				t.Errorf("the console has %s", m.FullName())
			}
		}
	}
	after := b.heads("acme")
	for s, link := range before {
		if after[s] != link {
			t.Errorf("session %s of acme was written to by strangers", s.ID)
		}
	}
	page := b.page(b.login(b.claims("engineering", "oncall", "security", "platform")).Token)
	_, pause := page.Pause(t.Context(), &wire.PauseRequest{Seconds: 60})
	_, undo := page.Undo(t.Context(), &wire.UndoRequest{Session: namedCanary})
	_, clean := page.Clean(t.Context(), &wire.CleanRequest{})
	_, left := page.Leftovers(t.Context(), &wire.LeftoversRequest{})
	for what, err := range map[string]error{"clean": clean, "leftovers": left} {
		if connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, erase := page.Forget(t.Context(), &wire.ForgetRequest{})
	_, publish := page.PublishBundle(t.Context(), &wire.PublishBundleRequest{})
	for what, err := range map[string]error{"pause": pause, "undo": undo, "erase": erase, "publish": publish} {
		if connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLoginsThatProveNoPerson: nobody gets a token, and each is told why.
func TestLoginsThatProveNoPerson(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(*Options) {})
	with := func(name string, value any) map[string]any {
		c := b.claims("oncall")
		c[name] = value
		return c
	}
	for what, c := range map[string]struct {
		claims          map[string]any
		verifier, nonce string
		want            string
	}{
		"another nonce":      {b.claims("oncall"), drawn("v"), drawn("m"), "for another page"},
		"another verifier":   {b.claims("oncall"), drawn("w"), drawn("n"), "the provider refuses the code"},
		"no nonce":           {b.claims("oncall"), drawn("v"), "", "no login begins or ends with"},
		"a token of another": {with("nonce", drawn("m")), drawn("v"), drawn("n"), "for another page"},
		"another audience":   {with("aud", "floodmark"), drawn("v"), drawn("n"), "not signed by the provider for this service"},
		"an expired token":   {with("exp", 1), drawn("v"), drawn("n"), "it has ended"},
		"no role":            {b.claims("sales"), drawn("v"), drawn("n"), "none of your groups has a role here"},
		"a role in capitals": {b.claims("OnCall"), drawn("v"), drawn("n"), "none of your groups has a role here"},
		"no groups":          {with("groups", nil), drawn("v"), drawn("n"), "is no list"},
		"another tenant":     {with("org", "ghost"), drawn("v"), drawn("n"), "your tenant is not known here"},
	} {
		b.later.Add(int64(time.Minute)) // so that logins are not too many
		c.claims["iat"] = b.d.opts.Now().Unix()
		if what != "an expired token" {
			c.claims["exp"] = b.d.opts.Now().Add(time.Hour).Unix()
		}
		if status, body := b.enter(b.leave(c.claims), c.verifier, c.nonce); status != http.StatusUnauthorized || !strings.Contains(body, c.want) || strings.Contains(body, "fm_console_") {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	if status, body := b.enter("code-99", drawn("v"), drawn("n")); status != http.StatusUnauthorized {
		t.Errorf("a code that nobody gave: %d %s", status, body)
	}
	code := b.leave(b.claims("oncall"))
	b.idp.Down(true)
	if status, body := b.enter(code, drawn("v"), drawn("n")); status != http.StatusServiceUnavailable || strings.Contains(body, b.idp.URL) {
		t.Errorf("while the provider is down: %d %s", status, body)
	}
}

// TestALaptopsRoleIsNoneAtTheConsole: who may only join laptops sees nothing.
func TestALaptopsRoleIsNoneAtTheConsole(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(o *Options) { o.Service.People.Roles.Laptop = []string{"staff"} })
	if status, body := b.enter(b.leave(b.claims("staff")), drawn("v"), drawn("n")); status != http.StatusUnauthorized || !strings.Contains(body, "no") {
		t.Errorf("%d %s", status, body)
	}
}

// TestACodeThatIsBroughtTwice ends what it opened, and is an incident.
func TestACodeThatIsBroughtTwice(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(*Options) {})
	code := b.leave(b.claims("oncall"))
	status, body := b.enter(code, drawn("v"), drawn("n"))
	var a admitted
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	other := b.login(b.claims("oncall"))
	if status, body := b.enter(code, drawn("v"), drawn("n")); status != http.StatusUnauthorized || !strings.Contains(body, "used twice") {
		t.Errorf("%d %s", status, body)
	}
	if _, err := b.page(a.Token).Status(t.Context(), &wire.StatusRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("the page that it opened: %v", err)
	}
	if _, err := b.page(other.Token).Status(t.Context(), &wire.StatusRequest{}); err != nil {
		t.Errorf("another page: %v", err)
	}
	if n := incidents(t, b.d, "console-login-twice"); n != 1 {
		t.Errorf("%d incidents", n)
	}
}

// TestAPageEnds with the token of the provider, or with the limit that service.yaml sets, and so
// does what it watches.
func TestAPageEnds(t *testing.T) {
	t.Parallel()
	for _, maxAge := range []time.Duration{0, 8 * time.Hour} {
		b := newBrowsed(t, func(o *Options) { o.Service.Console.MaxAge = config.Days(maxAge) })
		page := b.page(b.login(b.claims("oncall")).Token)
		for _, wait := range []time.Duration{59 * time.Minute, 61 * time.Minute, 7*time.Hour + 59*time.Minute, 8*time.Hour + time.Minute} {
			b.later.Store(int64(wait))
			_, err := page.Status(t.Context(), &wire.StatusRequest{})
			ended := connect.CodeOf(err) == connect.CodeUnauthenticated && strings.Contains(err.Error(), "log in again")
			if want := wait > max(maxAge, time.Hour); ended != want || !want && err != nil {
				t.Errorf("maxAge %s, after %s: %v", maxAge, wait, err)
			}
		}
	}
}

// TestTokensElsewhere: the console takes no token but its own, and its own is taken nowhere else.
func TestTokensElsewhere(t *testing.T) {
	t.Parallel()
	b := newBrowsed(t, func(*Options) {})
	text, _, err := b.tokens.Create(httpapi.Token{Kind: httpapi.OwnerKind, Tenant: "acme", Name: "ann", May: httpapi.OwnerMay})
	if err != nil {
		t.Fatal(err)
	}
	own := b.login(b.claims("oncall")).Token
	for what, token := range map[string]string{
		"a token of the fleet": text, "a person's token": person(b.idp, "anna", "acme", "oncall"), "the console's ID token": b.idp.Sign(b.claims("oncall")),
		"nothing": "", "a short one": own[:len(own)-1], "a code": "code-1",
	} {
		if _, err := b.page(token).Status(t.Context(), &wire.StatusRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s at the console: %v", what, err)
		}
	}
	direct := &fleet{t: t, base: "https://" + b.d.network[0].listener.Addr().String(), pool: b.pool}
	for what, token := range map[string]string{"a page's token": own, "the console's ID token": b.idp.Sign(b.claims("oncall"))} {
		if _, err := direct.by(token).Owner().Status(t.Context(), &wire.StatusRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s at the fleet: %v", what, err)
		}
	}
}

// TestNoConsoleOverTheNetwork: without the setting there is none, at no address.
func TestNoConsoleOverTheNetwork(t *testing.T) {
	t.Parallel()
	f, _ := newPeople(t, func(*Options) {})
	if f.d.networkConsole != nil || f.d.logins != nil {
		t.Error("there is a console")
	}
	for _, path := range []string{"/", "/login", "/login/begin", "/index.html", wire.ConsoleServiceDidProcedure} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequestWithContext(t.Context(), method, f.base+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := f.web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, resp.StatusCode)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
