package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/config"
)

func probe(r *readiness, path string) (int, string) {
	w := httptest.NewRecorder()
	r.probes(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// A node is ready while its journal takes writes, and for no longer than a look
// counts; it lives all the time.
func TestReadyIsHonest(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	var failed error
	r := &readiness{now: func() time.Time { return at }, look: func(context.Context) error { return failed }}
	want := func(what string, code int, text string) {
		t.Helper()
		if got, said := probe(r, readyPath); got != code || said != text {
			t.Errorf("%s: %d %q", what, got, said)
		}
		if got, _ := probe(r, livePath); got != http.StatusOK {
			t.Errorf("%s: not alive", what)
		}
	}
	want("before the first look", 503, "no database takes writes")
	r.check(t.Context())
	want("well", 200, "ready")
	at = at.Add(readyFor + 1)
	want("nobody has looked since", 503, "no database takes writes")
	r.check(t.Context())
	at = at.Add(-time.Hour)
	want("a clock that was set back", 503, "no database takes writes")
	r.check(t.Context())
	want("well again", 200, "ready")
	failed = errors.New("password=secret host=db7")
	r.check(t.Context())
	want("no primary", 503, "no database takes writes")
	failed = nil
	r.check(t.Context())
	r.end()
	want("stopping", 503, "stopping")
	partly := &readiness{now: now, but: func() string { return "but 1 tenant is refused here" }}
	if got, said := probe(partly, readyPath); got != http.StatusOK || said != "ready\nbut 1 tenant is refused here" {
		t.Errorf("with a tenant that is refused: %d %q", got, said)
	}
	alone := &readiness{now: now}
	if got, _ := probe(alone, readyPath); got != http.StatusOK {
		t.Error("a store without a server behind it")
	}
}

// Load balancers have no token. Nothing else is answered without one.
func TestProbesNeedNoToken(t *testing.T) {
	t.Parallel()
	listen, pool := certificate(t, t.TempDir())
	r := startWith(t, t.TempDir(), true, func(o *Options) { o.Service.Listen = []config.Listen{listen} })
	base := "https://" + r.d.network[0].listener.Addr().String()
	trusted := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
	transport := &http.Transport{TLSClientConfig: trusted}
	defer transport.CloseIdleConnections()
	for _, path := range []string{readyPath, livePath} {
		resp, err := (&http.Client{Transport: transport}).Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
	c, err := client.Dial(base, client.Options{TLS: trusted})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reply, err := c.Handle(t.Context(), hook.Event{Point: hook.SessionStart, Agent: "a", Session: "s"})
	if err == nil || reply.Decision.Verdict != floodmark.Restrict {
		t.Errorf("an event without a token: %v, %v", reply, err)
	}
}
