// Package registrytest provides package registries for tests. They are one TLS server on the
// loopback with certificates for any hosts.
package registrytest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// A Registry answers for several hosts.
type Registry struct {
	// Roots contains the certificate of the registry.
	Roots *x509.CertPool
	// Answer answers a request. Set it before the first one.
	Answer http.HandlerFunc

	server *httptest.Server
	mu     sync.Mutex // guards what is below
	asked  []string
	dialed []string
}

// New returns a registry with a certificate for hosts.
func New(t testing.TB, hosts ...string) *Registry {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plate := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), DNSNames: hosts,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, plate, plate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	r := &Registry{Roots: x509.NewCertPool()}
	r.Roots.AddCert(own)
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	r.server.StartTLS()
	t.Cleanup(r.server.Close)
	return r
}

func (r *Registry) serve(w http.ResponseWriter, q *http.Request) {
	said := q.Method + " " + q.Host + q.URL.RequestURI()
	for name := range q.Header {
		if !slices.Contains([]string{"User-Agent", "Accept"}, name) {
			said += " " + name
		}
	}
	r.mu.Lock()
	r.asked = append(r.asked, said)
	r.mu.Unlock()
	r.Answer(w, q)
}

// Dial connects to the registry, for any host.
func (r *Registry) Dial(ctx context.Context, network, place string) (net.Conn, error) {
	r.mu.Lock()
	r.dialed = append(r.dialed, place)
	r.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, network, r.server.Listener.Addr().String())
}

// Asked returns the requests so far, each with the names of its headers other than User-Agent and
// Accept.
func (r *Registry) Asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// Dialed returns the addresses that were dialed.
func (r *Registry) Dialed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.dialed)
}
