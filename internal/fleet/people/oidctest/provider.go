// Package oidctest provides an identity provider for tests, with discovery, keys, the device flow,
// and tokens with real signatures, including invalid ones. It does not authenticate people: a test
// decides who logs in.
package oidctest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/floodmark/floodmark/internal/outward/nettest"
)

// A Provider runs until it is closed. Its methods may be called at any time.
type Provider struct {
	// URL is the issuer.
	URL    string
	server *httptest.Server
	net    *nettest.Net // nil if the provider listens on this machine

	mu      sync.Mutex // guards what is below
	keys    []key
	asked   int // how often the keys were requested
	down    bool
	device  device
	codes   int            // how many codes were given out
	issued  map[string]any // the claims of the next login
	refresh string
	browsed browsed
}

type key struct {
	id     string
	secret *ecdsa.PrivateKey
}

// device is one device flow.
type device struct {
	code             string // the last code that was given out
	approved, denied bool
	polls            int
	used             bool
	says             []string      // the first answers; see Says
	lives            time.Duration // the lifetime of the code; zero: ten minutes
	slowed           time.Time     // when the client was last asked to slow down
	hasty            bool          // the client did not slow down
}

// New starts a provider with one key.
func New() *Provider {
	p := build()
	p.server = httptest.NewServer(p.handler())
	p.URL = p.server.URL
	return p
}

// InMemory starts a provider that is only reached by its own Dial. It can be used with its clients
// in a bubble of testing/synctest.
func InMemory() *Provider {
	p := build()
	p.net = nettest.New()
	p.server = p.net.Server(p.handler())
	p.server.Start()
	p.URL = p.server.URL
	return p
}

// Dial connects to a provider in memory, and to nothing else.
func (p *Provider) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.net == nil {
		return nil, errors.New("the provider listens on this machine: dial its URL")
	}
	return p.net.Dial(ctx, network, address)
}

// NewTLS starts a provider that is reached by https. Clients need its Certificate.
func NewTLS() *Provider {
	p := build()
	p.server = httptest.NewTLSServer(p.handler())
	p.URL = p.server.URL
	return p
}

// Certificate returns the certificate of a provider with https, as PEM.
func (p *Provider) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
}

func build() *Provider {
	p := &Provider{}
	p.Rotate("key-1")
	return p
}

func (p *Provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keySet)
	mux.HandleFunc("POST /device", p.authorize)
	mux.HandleFunc("GET /auth", p.authorizeBrowser)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	return mux
}

// Close stops the provider.
func (p *Provider) Close() { p.server.Close() }

// Rotate makes a new key. Earlier keys stay valid until Withdraw.
func (p *Provider) Rotate(id string) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key{id, secret})
}

// Withdraw removes all keys but the newest.
func (p *Provider) Withdraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = p.keys[len(p.keys)-1:]
}

// Down makes the provider answer only errors, or work again.
func (p *Provider) Down(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Asked returns how often the provider's keys were requested.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Claims returns the claims of a valid token for a client. Its person is anna, who is in two
// groups.
func (p *Provider) Claims(client string, now time.Time) map[string]any {
	return map[string]any{
		"iss": p.URL, "sub": "anna", "aud": client, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"org": "acme", "groups": []string{"engineering", "oncall"},
	}
}

// Sign signs claims with the newest key.
func (p *Provider) Sign(claims map[string]any) string {
	data, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return p.SignBytes(data)
}

// SignBytes signs any text with the newest key.
func (p *Provider) SignBytes(payload []byte) string {
	p.mu.Lock()
	newest := p.keys[len(p.keys)-1]
	p.mu.Unlock()
	return Sign(jose.ES256, newest.secret, newest.id, payload)
}

// Sign signs any text with any key, under any key id.
func Sign(alg jose.SignatureAlgorithm, secret any, id string, payload []byte) string {
	opts := (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: secret}, opts)
	if err != nil {
		panic(err)
	}
	signed, err := s.Sign(payload)
	if err != nil {
		panic(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return text
}

// Public returns the newest public key and its id.
func (p *Provider) Public() (id string, public *ecdsa.PublicKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := p.keys[len(p.keys)-1]
	return newest.id, &newest.secret.PublicKey
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	if p.broken(w) {
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "jwks_uri": p.URL + "/keys", "token_endpoint": p.URL + "/token", "authorization_endpoint": p.URL + "/auth", "revocation_endpoint": p.URL + "/revoke",
		"device_authorization_endpoint": p.URL + "/device", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"},
	})
}

func (p *Provider) broken(w http.ResponseWriter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
	}
	return p.down
}

func (p *Provider) keySet(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	p.asked++
	var set jose.JSONWebKeySet
	for _, k := range p.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: &k.secret.PublicKey, KeyID: k.id, Algorithm: string(jose.ES256), Use: "sig"})
	}
	p.mu.Unlock()
	if !p.broken(w) {
		answer(w, http.StatusOK, set)
	}
}

func answer(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(what); err != nil {
		panic(fmt.Sprintf("write an answer: %v", err))
	}
}

// Says has the device flow answer with these errors first, one for each poll:
// authorization_pending, slow_down, expired_token or any other.
func (p *Provider) Says(errors ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.device.says = errors
}

// Lives sets the lifetime of the next code, and leaves that code unapproved. If d is negative, the
// provider sends no lifetime.
func (p *Provider) Lives(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.device.lives, p.device.approved = d, false
}

// Hasty reports whether a client ignored slow_down, by the five seconds of RFC 8628.
func (p *Provider) Hasty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.device.hasty
}

// LogIn sets the person who logs in by the device flow and approves; if claims is nil, the person
// denies.
func (p *Provider) LogIn(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issued = maps.Clone(claims)
	p.device = device{approved: claims != nil, denied: claims == nil}
}
