package webhook_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/internal/outward/nettest"
)

// midnight is when a bubble of testing/synctest begins.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A maker signs certificates for these tests. They are valid only at the time of a bubble.
type maker struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newMaker(tb testing.TB) maker {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: midnight.Add(-time.Hour), NotAfter: midnight.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return maker{key, cert}
}

func (m maker) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(m.cert)
	return p
}

// sign returns a certificate for 127.0.0.1, changed as a test wants it.
func (m maker) sign(tb testing.TB, change func(*x509.Certificate)) tls.Certificate {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "verifier"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore:   midnight.Add(-time.Hour), NotAfter: midnight.Add(time.Hour),
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, m.cert, &key.PublicKey, m.key)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A town is a network with servers, and the maker that signs their certificates.
type town struct {
	*nettest.Net
	maker
}

func newTown(tb testing.TB) town { return town{nettest.New(), newMaker(tb)} }

// hook returns a webhook that reaches the servers of the town.
func (n town) hook(tb testing.TB, o webhook.Options) *webhook.Hook {
	tb.Helper()
	o.Name, o.Roots, o.Dial = "webhook", n.pool(), n.Dial
	h, err := webhook.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { h.Close() })
	return h
}

// secure serves over TLS.
func (n town) secure(tb testing.TB, h http.Handler, c tls.Certificate, change func(*tls.Config)) string {
	tb.Helper()
	s := n.Server(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{c}} //nolint:gosec // some tests want an old version
	if change != nil {
		change(s.TLS)
	}
	s.StartTLS()
	tb.Cleanup(s.Close)
	return s.URL
}

func (n town) inClear(tb testing.TB, h http.HandlerFunc) string {
	tb.Helper()
	s := n.Server(h)
	s.Start()
	tb.Cleanup(s.Close)
	return s.URL
}

// closed is an address where nothing listens.
func (n town) closed(tb testing.TB) string {
	tb.Helper()
	l := n.Listen()
	defer l.Close()
	return "http://" + l.Addr().String()
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func fails(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, `{"decision":"allow"}`) // this answer must not be accepted
	}
}

// silent does not answer until its client has gone.
func silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// drip sends its yes a byte at a time.
func drip(w http.ResponseWriter, r *http.Request) {
	nettest.Drip(w, r, []byte(`{"decision":"allow"}`+strings.Repeat(" ", 1000)), 30*time.Millisecond)
}

// cut ends the connection in the middle of an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"decision\":\"allow\"}")
		conn.Close()
	}
}

// hang ends the connection without an answer.
func hang(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// garbage answers something that is not HTTP.
func garbage(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		fmt.Fprint(conn, "\x00\x01 hello\r\n\r\n")
		conn.Close()
	}
}
