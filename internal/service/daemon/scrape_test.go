package daemon

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// Counters are of all tenants: at a network door only a token that may view and belongs to no
// tenant sees them.
func TestMetricsAtTheDoor(t *testing.T) {
	dir := t.TempDir()
	listen, pool := certificate(t, t.TempDir())
	o := options(dir, &lockedBuffer{})
	o.Service.Listen, o.Service.Metrics = []config.Listen{listen}, config.MetricsListen
	if err := os.MkdirAll(filepath.Dir(o.Paths.Tokens), 0o700); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(o.Paths.Tokens, now)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"nobody": ""}
	for name, token := range map[string]httpapi.Token{
		"prometheus": {Kind: httpapi.OwnerKind, Name: "prometheus", May: httpapi.MayView},
		"tenant":     {Kind: httpapi.OwnerKind, Name: "tenant", May: httpapi.OwnerMay, Tenant: "acme"},
		"approver":   {Kind: httpapi.OwnerKind, Name: "approver", May: httpapi.MayApprove},
		"agent":      {Kind: httpapi.AgentKind, Name: "agent"},
	} {
		if texts[name], _, err = tokens.Create(token); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	for name, text := range texts {
		status, body := scrape(t, transport, "https://"+d.network[0].listener.Addr().String()+"/metrics", text)
		shown := status == http.StatusOK && strings.Contains(body, "floodmark_build_info")
		if shown != (name == "prometheus") || !shown && strings.Contains(body, "floodmark_") {
			t.Errorf("%s: %d\n%.200s", name, status, body)
		}
	}
}

// scrape asks with a token, or with none.
func scrape(t *testing.T, transport *http.Transport, address, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}
