// Package issuertest provides an OAuth issuer for tests, and an MCP server that accepts its tokens.
// Both speak the real protocol over real sockets. Their fields change their answers, so that they
// can act as attackers.
package issuertest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// An Issuer gives tokens for valid requests.
type Issuer struct {
	URL string
	// Meta changes the issuer's metadata before they are sent.
	Meta func(map[string]any)
	// Back changes the parameters that the browser comes back with.
	Back func(url.Values)
	// Moved is the address that the token endpoint redirects to, if not empty.
	Moved string
	// ExpiresIn is the stated lifetime of tokens in seconds; zero: 3600.
	ExpiresIn int
	// Machine is the ID and the secret of a client that needs no person.
	Machine [2]string

	mu       sync.Mutex // guards all below
	clients  map[string]string
	codes    map[string]grant
	access   map[string]string // token to resource
	refresh  map[string]grant
	Stolen   int // how often a refresh token was used that is unknown or was used before
	Requests []string
	Revoked  []string
}

type grant struct{ client, back, challenge, resource, scope string }

// New starts an issuer that ends with the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{clients: map[string]string{}, codes: map[string]grant{}, access: map[string]string{}, refresh: map[string]grant{}}
	web := httptest.NewServer(i)
	t.Cleanup(web.Close)
	i.URL = web.URL
	return i
}

// ServeHTTP implements [http.Handler].
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.Requests = append(i.Requests, r.Method+" "+r.URL.Path)
	if err := r.ParseForm(); err != nil {
		fail(w, "invalid_request")
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		meta := map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "registration_endpoint": i.URL + "/register",
			"revocation_endpoint": i.URL + "/revoke", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"read", "offline_access"},
		}
		if i.Meta != nil {
			i.Meta(meta)
		}
		answer(w, http.StatusOK, meta)
	case "/register":
		i.register(w, r)
	case "/authorize":
		i.authorize(w, r)
	case "/token":
		if i.Moved != "" {
			http.Redirect(w, r, i.Moved, http.StatusTemporaryRedirect)
			return
		}
		i.token(w, r)
	case "/revoke":
		i.Revoked = append(i.Revoked, r.PostForm.Get("token_type_hint"))
		delete(i.access, r.PostForm.Get("token"))
		delete(i.refresh, r.PostForm.Get("token"))
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) register(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Back []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&said) != nil || len(said.Back) != 1 {
		fail(w, "invalid_client_metadata")
		return
	}
	id := "client-" + rand.Text()
	i.clients[id] = said.Back[0]
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": said.Back, "token_endpoint_auth_method": "none"})
}

// authorize answers at once, as if a person had agreed.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, known := i.clients[q.Get("client_id")]
	if !known || back != q.Get("redirect_uri") || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") == "" {
		http.Error(w, "this is no login", http.StatusBadRequest)
		return
	}
	code := "code-" + rand.Text()
	i.codes[code] = grant{q.Get("client_id"), back, q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	values := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}}
	if i.Back != nil {
		i.Back(values)
	}
	http.Redirect(w, r, back+"?"+values.Encode(), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	form := r.PostForm
	switch form.Get("grant_type") {
	case "authorization_code":
		g, ok := i.codes[form.Get("code")]
		delete(i.codes, form.Get("code"))
		hash := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || g.client != form.Get("client_id") || g.back != form.Get("redirect_uri") || g.resource != form.Get("resource") || base64.RawURLEncoding.EncodeToString(hash[:]) != g.challenge {
			fail(w, "invalid_grant")
			return
		}
		i.give(w, g)
	case "refresh_token":
		g, ok := i.refresh[form.Get("refresh_token")]
		delete(i.refresh, form.Get("refresh_token"))
		if !ok {
			i.Stolen++
		}
		if !ok || g.client != form.Get("client_id") || g.resource != form.Get("resource") {
			fail(w, "invalid_grant")
			return
		}
		i.give(w, g)
	case "client_credentials":
		id, secret, _ := r.BasicAuth()
		if i.Machine[0] == "" || [2]string{id, secret} != i.Machine {
			fail(w, "invalid_client")
			return
		}
		token := "access-" + rand.Text()
		i.access[token] = form.Get("resource")
		answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "bearer", "expires_in": i.seconds()})
	default:
		fail(w, "unsupported_grant_type")
	}
}

func (i *Issuer) seconds() int {
	if i.ExpiresIn == 0 {
		return 3600
	}
	return i.ExpiresIn
}

func (i *Issuer) give(w http.ResponseWriter, g grant) {
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	i.access[access], i.refresh[refresh] = g.resource, g
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": i.seconds(), "refresh_token": refresh, "scope": g.scope})
}

// Good reports whether a token is valid for this resource.
func (i *Issuer) Good(token, resource string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	meant, ok := i.access[token]
	return ok && meant == resource
}

// End invalidates all access tokens, and if all is set, the refresh tokens, too.
func (i *Issuer) End(all bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.access = map[string]string{}
	if all {
		i.refresh = map[string]grant{}
	}
}

// Know registers a client by hand.
func (i *Issuer) Know(client, back string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clients[client] = back
}

// Asked returns how often a request, as in "POST /token", was made.
func (i *Issuer) Asked(request string) (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, one := range i.Requests {
		if one == request {
			n++
		}
	}
	return n
}

// Ended returns the kinds of the tokens that were revoked.
func (i *Issuer) Ended() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Sorted(slices.Values(i.Revoked))
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func fail(w http.ResponseWriter, code string) {
	answer(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": "\x1b[31mSECRET-WORDS of the issuer"})
}

// A Resource is an MCP server that refuses every request without a token of its issuer.
type Resource struct {
	URL string
	// Issuer is the issuer whose tokens the server accepts.
	Issuer *Issuer
	// Challenge replaces the challenge in its answers. Meta changes its metadata.
	Challenge func() string
	Meta      func(map[string]any)
	mu        sync.Mutex // guards shown
	shown     []string
	next      http.Handler
}

// NewResource starts a server at /mcp that ends with the test.
func NewResource(t testing.TB, i *Issuer, next http.Handler) *Resource {
	t.Helper()
	s := &Resource{Issuer: i, next: next}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL + "/mcp"
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	if r.URL.Path == wellKnown+"/mcp" {
		meta := map[string]any{"resource": s.URL, "authorization_servers": []string{s.Issuer.URL}, "scopes_supported": []string{"read"}}
		if s.Meta != nil {
			s.Meta(meta)
		}
		answer(w, http.StatusOK, meta)
		return
	}
	if r.URL.Path != "/mcp" {
		http.NotFound(w, r)
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.shown = append(s.shown, token)
	s.mu.Unlock()
	if !s.Issuer.Good(token, s.URL) {
		challenge := `Bearer resource_metadata="` + strings.TrimSuffix(s.URL, "/mcp") + wellKnown + `/mcp", scope="read"`
		if s.Challenge != nil {
			challenge = s.Challenge()
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "SECRET-WORDS of the server", http.StatusUnauthorized)
		return
	}
	s.next.ServeHTTP(w, r)
}

// Shown returns the tokens of all requests so far; "" stands for a request without one.
func (s *Resource) Shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}
