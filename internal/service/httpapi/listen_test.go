package httpapi_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A house is a server with both services behind TLS and tokens.
type house struct {
	authority authority
	tokens    *httpapi.Tokens
	addr      string
	called    []string // methods of the owner
	events    []string // tenants of events
	refused   []string // callers and methods
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{authority: newAuthority(t), tokens: openTokens(t, tokenPath(t))}
	o := httpapi.Options{Refused: func(who httpapi.Identity, method, remote string) {
		if !strings.HasPrefix(remote, "127.0.0.1:") {
			t.Errorf("refused somebody at %q", remote)
		}
		h.refused = append(h.refused, who.Name+" "+method)
	}}
	mux := http.NewServeMux()
	mux.Handle("/"+wire.HookServiceName+"/", httpapi.NewHookHandler(hooksFunc(func(_ context.Context, tenant string, _ hook.Event) (hook.Reply, error) {
		h.events = append(h.events, tenant)
		return allow(), nil
	}), o))
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(fakeOwner{func(m string, who httpapi.Identity) error {
		h.called = append(h.called, who.Tenant+" "+m)
		return nil
	}}, o))
	h.addr = serveTLS(t, httpapi.Access(httpapi.Finders{Tokens: h.tokens}, o, mux), httpapi.ServerTLS(h.authority.server(), h.authority.pool()))
	return h
}

func (h *house) caller(t testing.TB, certs ...tls.Certificate) *http.Client {
	t.Helper()
	return tlsCaller(t, h.addr, &tls.Config{RootCAs: h.authority.pool(), Certificates: certs, MinVersion: tls.VersionTLS13})
}

func bearer(text string) http.Header { return http.Header{"Authorization": {"Bearer " + text}} }

// An agent's token is tried on every owner method, in every protocol: each call is refused and
// reported, and none reaches the owner's code.
func TestAgentTokensReachNoOwnerMethod(t *testing.T) {
	h := newHouse(t)
	text, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "bot", May: httpapi.OwnerMay})
	certificate := h.authority.client("agent-7")
	if _, err := h.tokens.Admit(httpapi.Token{Kind: httpapi.AgentKind, Name: "cert", May: httpapi.OwnerMay, Certificate: "agent-7"}); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for name, as := range map[string]struct {
		client *http.Client
		header http.Header
	}{"bot": {h.caller(t), bearer(text)}, "cert": {h.caller(t, certificate), nil}} {
		if code := call(t, as.client, "https://test"+wire.HookServiceHandleProcedure, "connect", false, as.header); code != 0 {
			t.Errorf("%s may not even send events: %v", name, code)
		}
		for _, m := range ownerMethods() {
			for _, protocol := range []string{"connect", "gRPC", "gRPC-Web"} {
				h.refused = nil
				code := call(t, as.client, "https://test"+pathOf(m), protocol, m.IsStreamingServer(), as.header)
				if code != connect.CodePermissionDenied || len(h.refused) != 1 || h.refused[0] != name+" "+pathOf(m) {
					t.Errorf("%s, %s by %s: %v, reported %q", name, m.Name(), protocol, code, h.refused)
				}
				tried++
			}
		}
	}
	if tried != 2*3*30 || len(h.called) != 0 {
		t.Errorf("%d calls were tried, %q reached the owner", tried, h.called)
	}
}

// An unknown caller can call no method, and an owner's token cannot send events.
func TestWhoIsRefused(t *testing.T) {
	h := newHouse(t)
	agents, made := create(t, h.tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "bot"})
	owners, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.OwnerMay})
	over, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "old", May: httpapi.OwnerMay, Expires: soon()})
	if err := h.tokens.Revoke(made.ID); err != nil {
		t.Fatal(err)
	}
	c := h.caller(t)
	for name, header := range map[string]http.Header{
		"nobody": nil, "revoked": bearer(agents), "expired": bearer(over), "unknown": bearer("fm_owner_" + strings.Repeat("0", 64)),
		"empty": bearer(""), "basic": {"Authorization": {"Basic " + owners}}, "bare": {"Authorization": {owners}},
		"two": {"Authorization": {"Bearer " + owners, "Bearer " + owners}}, "spaced": bearer(owners + " "),
	} {
		for _, path := range []string{wire.HookServiceHandleProcedure, wire.OwnerServiceStatusProcedure, wire.OwnerServiceForgetProcedure} {
			h.refused = nil
			if code := call(t, c, "https://test"+path, "connect", false, header); code != connect.CodeUnauthenticated || len(h.refused) != 1 {
				t.Errorf("%s called %s: %v, reported %q", name, path, code, h.refused)
			}
		}
	}
	if code := call(t, c, "https://test"+wire.HookServiceHandleProcedure, "connect", false, bearer(owners)); code != connect.CodePermissionDenied {
		t.Errorf("an owner's token sent an event: %v", code)
	}
	if len(h.called)+len(h.events) != 0 {
		t.Errorf("%q and %q were reached", h.called, h.events)
	}
	if code := call(t, c, "https://test"+wire.OwnerServiceForgetProcedure, "connect", false, bearer(owners)); code != 0 || len(h.called) != 1 {
		t.Errorf("the owner: %v, %q", code, h.called)
	}
}

// A token acts in its own tenant, even if the call names another.
func TestTenantsFollowTheToken(t *testing.T) {
	h := newHouse(t)
	c := h.caller(t)
	for _, tenant := range []string{"", "red", "blue"} {
		agents, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.AgentKind, Tenant: tenant, Name: "bot"})
		owners, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.OwnerKind, Tenant: tenant, Name: "anna", May: httpapi.MayAdmin})
		h.called, h.events = nil, nil
		post(t, c, "https://test"+wire.HookServiceHandleProcedure, `{"point":"session_end","agent":"a","session":"green/s"}`, "Authorization", "Bearer "+agents, "Tenant", "green")
		post(t, c, "https://test"+wire.OwnerServiceForgetProcedure, `{"session":"green/s"}`, "Authorization", "Bearer "+owners, "Tenant", "green")
		if len(h.events) != 1 || h.events[0] != tenant || len(h.called) != 1 || h.called[0] != tenant+" Forget" {
			t.Errorf("tenant %q: events of %q, calls of %q", tenant, h.events, h.called)
		}
	}
}

// A verified client certificate is identified by its spiffe:// name or, without one, by its common
// name, and only if it was admitted.
func TestCertificates(t *testing.T) {
	h := newHouse(t)
	const spiffe = "spiffe://firm.example/agent/7"
	for _, name := range []string{spiffe, "anna"} {
		if _, err := h.tokens.Admit(httpapi.Token{Kind: httpapi.OwnerKind, Name: name, May: httpapi.MayAdmin, Certificate: name}); err != nil {
			t.Fatal(err)
		}
	}
	a := h.authority
	for name, x := range map[string]struct {
		cert tls.Certificate
		want connect.Code
	}{
		"spiffe":            {a.client("whoever", spiffe), 0},
		"common name":       {a.client("anna"), 0},
		"and a web address": {a.client("anna", "https://firm.example"), 0},
		"not admitted":      {a.client("anna", "spiffe://firm.example/agent/8"), connect.CodeUnauthenticated},
		"two names":         {a.client("anna", spiffe, spiffe+"8"), connect.CodeUnauthenticated},
		"claimed":           {a.client(spiffe), connect.CodeUnauthenticated},
		"no name":           {a.client(""), connect.CodeUnauthenticated},
		"stranger":          {a.client("bob"), connect.CodeUnauthenticated},
	} {
		if code := call(t, h.caller(t, x.cert), "https://test"+wire.OwnerServiceForgetProcedure, "connect", false, nil); code != x.want {
			t.Errorf("%s: %v, want %v", name, code, x.want)
		}
	}
	// A bad token together with a good certificate is refused as a bad token.
	if code := call(t, h.caller(t, a.client("anna")), "https://test"+wire.OwnerServiceForgetProcedure, "connect", false, bearer("x")); code != connect.CodeUnauthenticated {
		t.Errorf("a bad token: %v", code)
	}
	two := http.Header{"Authorization": {"Bearer x", "Bearer y"}}
	if code := call(t, h.caller(t, a.client("anna")), "https://test"+wire.OwnerServiceForgetProcedure, "connect", false, two); code != connect.CodeUnauthenticated {
		t.Errorf("two bad tokens: %v", code)
	}
	// Another authority's certificate is refused before the caller is identified.
	evil := newAuthority(t).client("anna")
	force := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &evil, nil }
	c := tlsCaller(t, h.addr, &tls.Config{RootCAs: a.pool(), GetClientCertificate: force, MinVersion: tls.VersionTLS13})
	resp, err := c.Post("https://test"+wire.OwnerServiceForgetProcedure, "application/json", strings.NewReader("{}"))
	if err == nil {
		_ = resp.Body.Close()
		t.Errorf("another authority: status %d", resp.StatusCode)
	}
}

// TCP works only by TLS 1.3 and with a certificate that the client trusts.
func TestTransport(t *testing.T) {
	h := newHouse(t)
	owners, _ := create(t, h.tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.OwnerMay})
	for name, c := range map[string]*tls.Config{
		"TLS 1.2":           {RootCAs: h.authority.pool(), MaxVersion: tls.VersionTLS12}, //nolint:gosec // the version that must be refused
		"another authority": {RootCAs: newAuthority(t).pool(), MinVersion: tls.VersionTLS13},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://test"+wire.OwnerServiceStatusProcedure, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = bearer(owners)
		if resp, err := tlsCaller(t, h.addr, c).Do(r); err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST "+wire.OwnerServiceStatusProcedure+" HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer "+owners+
		"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn)
	if strings.Contains(string(answer), " 200 ") || len(h.called) != 0 {
		t.Errorf("without TLS: %s; %q", answer, h.called)
	}
	good := httpapi.ServerTLS(h.authority.server(), nil)
	old := good.Clone()
	old.MinVersion = tls.VersionTLS12
	for name, c := range map[string]*tls.Config{"none": nil, "empty": {}, "old": old, "no certificate": {MinVersion: tls.VersionTLS13}} {
		if l, err := httpapi.Listen(t.Context(), "127.0.0.1:0", c); err == nil {
			_ = l.Close()
			t.Errorf("%s: it listens", name)
		}
	}
}

// A token is ignored without TLS, even if Access is put before a plain listener.
func TestAccessWithoutTLS(t *testing.T) {
	tokens := openTokens(t, tokenPath(t))
	text, _ := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "bot"})
	failed := 0
	o := httpapi.Options{Failed: func(string, error) { failed++ }}
	c := serve(t, as(agent(), httpapi.Access(httpapi.Finders{Tokens: tokens}, o, httpapi.NewHookHandler(hooksFunc(allowAll), o))))
	if code := call(t, c, handleURL, "connect", false, bearer(text)); code != connect.CodeUnauthenticated || failed != 1 {
		t.Errorf("%v, %d failures", code, failed)
	}
}

// A timed writer notes until when the request may be read.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

// SetReadDeadline is for http.ResponseController.
func (w *timed) SetReadDeadline(at time.Time) error {
	w.until = at
	return nil
}

// A request of which the rest is never sent ends, also if nothing reads it. One that was read has no
// limit from then on, because its answer may be a stream.
func TestUnreadRequestsEnd(t *testing.T) {
	for may, ends := range map[httpapi.May]bool{0: true, httpapi.OwnerMay: false} {
		h := httpapi.NewOwnerHandler(fakeOwner{func(string, httpapi.Identity) error { return nil }}, httpapi.Options{})
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, wire.OwnerServiceStatusProcedure, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		httpapi.NewServer(as(httpapi.Identity{May: may}, h)).Handler.ServeHTTP(w, r)
		if w.until.IsZero() == ends {
			t.Errorf("%v: status %d, ends %v", may, w.Code, w.until)
		}
	}
}
