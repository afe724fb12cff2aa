package daemon

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// certificate writes a certificate for 127.0.0.1 that signs itself.
func certificate(t *testing.T, dir string) (l config.Listen, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: noon.AddDate(-10, 0, 0), NotAfter: noon.AddDate(90, 0, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	l = config.Listen{Address: "127.0.0.1:0", Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	err = errors.Join(os.WriteFile(l.Certificate, public, 0o600),
		os.WriteFile(l.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	return l, pool
}

// distrusted dials without trusting the certificate's signer: the failure is in the monitor's own
// log, not beside it.
func distrusted(t *testing.T, address string, logged *noticed) {
	t.Helper()
	if c, err := (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", address); err == nil {
		t.Error("anybody's certificate is trusted", c.Close())
	}
	<-logged.seen
}

// A noticed is a log that says when a text is written to it.
type noticed struct {
	io.Writer
	text string
	seen chan struct{} // has one value once the text was there
}

func (n *noticed) Write(p []byte) (int, error) {
	if strings.Contains(string(p), n.text) {
		select {
		case n.seen <- struct{}{}:
		default:
		}
	}
	return n.Writer.Write(p)
}

// An agent on the network sends events. Every call of an owner is refused to
// it, and written down.
func TestAnAgentsTokenOpensNothingElse(t *testing.T) {
	dir := t.TempDir()
	listen, pool := certificate(t, t.TempDir())
	log := &lockedBuffer{}
	logged := &noticed{log, "level=INFO msg=\"http: TLS handshake error", make(chan struct{}, 1)}
	o := options(dir, log)
	o.Log = slog.New(slog.NewTextHandler(logged, nil))
	o.Service.Listen = []config.Listen{listen}
	if err := os.MkdirAll(filepath.Dir(o.Paths.Tokens), 0o700); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(o.Paths.Tokens, now)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: "agent-7"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	base := "https://" + d.network[0].listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	c, err := client.Dial(base, client.Options{Token: text, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := tell(t, c, hook.Event{Point: hook.SessionStart, Session: "far"}).Decision.Verdict; got != floodmark.Allow {
		t.Errorf("an event: %v", got)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	distrusted(t, d.network[0].listener.Addr().String(), logged)
	tried := everyOwnerCall(t, transport, base, text)
	if n := incidents(t, d, "not-permitted"); n != tried {
		t.Errorf("%d calls were refused and %d written down", tried, n)
	}
	if strings.Contains(log.String(), text) {
		t.Error("the token is in the log")
	}
}

// everyOwnerCall tries each method of the OwnerService and returns how many
// there are.
func everyOwnerCall(t *testing.T, transport *http.Transport, base, token string) int {
	t.Helper()
	methods := wire.File_floodmark_v1_owner_proto.Services().ByName("OwnerService").Methods()
	for i := range methods.Len() {
		m := methods.Get(i)
		content := "application/json"
		if m.IsStreamingServer() {
			content = "application/connect+json"
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/"+wire.OwnerServiceName+"/"+string(m.Name()), bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", content)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), "permission_denied") {
			t.Errorf("%s: %d %s", m.Name(), resp.StatusCode, body)
		}
	}
	return methods.Len()
}

// incidents counts what was written down of a kind.
func incidents(t *testing.T, d *Daemon, kind string) int {
	t.Helper()
	n := 0
	for e, err := range d.store.Read(t.Context(), journal.Session{ID: monitor.Incidents}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			t.Fatal(err)
		}
		if seen, ok := f.(floodmark.IncidentSeen); ok && seen.Kind == kind {
			n++
		}
	}
	return n
}
