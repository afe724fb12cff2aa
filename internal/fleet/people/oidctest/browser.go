package oidctest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
)

// browsed are the logins with a browser: the authorization code flow with PKCE.
type browsed struct {
	claims map[string]any // of the person at the browser; nil: nobody is there, and the login is denied
	secret string         // of the client; empty: it has none
	codes  map[string]authorized
}

// authorized is what a code was given out for. It is exchanged once.
type authorized struct {
	client, redirect, challenge string
	claims                      map[string]any
}

// Browse sets the person who logs in with a browser; if claims is nil, the person denies. A claim of
// nonce replaces the one that the page asked for.
func (p *Provider) Browse(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browsed.claims = maps.Clone(claims)
}

// Secret sets the secret that the client of browsers must send in its header.
func (p *Provider) Secret(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browsed.secret = secret
}

// authorizeBrowser sends a browser back with a code. A real provider would ask for a password first,
// and know the address of the client.
func (p *Provider) authorizeBrowser(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Host == "" || q.Get("response_type") != "code" || q.Get("client_id") == "" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	said := url.Values{"state": {q.Get("state")}}
	if p.browsed.claims == nil {
		said.Set("error", "access_denied")
	} else {
		claims := map[string]any{"nonce": q.Get("nonce")}
		maps.Copy(claims, p.browsed.claims)
		p.codes++
		code := "code-" + strconv.Itoa(p.codes)
		if p.browsed.codes == nil {
			p.browsed.codes = map[string]authorized{}
		}
		p.browsed.codes[code] = authorized{q.Get("client_id"), back.String(), q.Get("code_challenge"), claims}
		said.Set("code", code)
	}
	back.RawQuery = said.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// exchange gives a token for a code, once, to the client that has its verifier.
func (p *Provider) exchange(w http.ResponseWriter, r *http.Request) {
	client, secret, has := r.BasicAuth()
	if !has {
		client = r.FormValue("client_id")
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	p.mu.Lock()
	wants := p.browsed.secret
	of, ok := p.browsed.codes[r.FormValue("code")]
	delete(p.browsed.codes, r.FormValue("code"))
	p.mu.Unlock()
	switch {
	case secret != wants:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case !ok || of.client != client || of.redirect != r.FormValue("redirect_uri") || of.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	default:
		answer(w, http.StatusOK, map[string]any{"access_token": "of no use", "id_token": p.Sign(of.claims), "token_type": "Bearer", "expires_in": 3600})
	}
}

// Visit goes to the provider as a browser does, and returns what it brings back.
func (p *Provider) Visit(where string) (url.Values, error) {
	w := httptest.NewRecorder()
	p.handler().ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, where, http.NoBody))
	back, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusFound {
		return nil, fmt.Errorf("status %d: %s", w.Code, w.Body)
	}
	return back.Query(), nil
}
