package oidctest

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// The codes and times of the device flow.
const (
	UserCode   = "WDJB-MJHT"
	deviceCode = "device-secret"

	codeLives = 10 * time.Minute
	slower    = 5 * time.Second
)

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	if r.FormValue("client_id") == "" {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	p.mu.Lock()
	lives := cmp.Or(p.device.lives, codeLives)
	p.codes++
	p.device.code = deviceCode + "-" + strconv.Itoa(p.codes) // older codes are refused
	code := p.device.code
	p.mu.Unlock()
	said := map[string]any{
		"device_code": code, "user_code": UserCode, "verification_uri": p.URL + "/go", "verification_uri_complete": p.URL + "/go?code=" + UserCode,
		"expires_in": int(lives / time.Second), "interval": 1,
	}
	if lives < 0 {
		delete(said, "expires_in")
	}
	answer(w, http.StatusOK, said)
}

// token issues a token for an approved device code, at the second poll at the earliest, or for a
// refresh token.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	if r.FormValue("grant_type") == "authorization_code" {
		p.exchange(w, r)
		return
	}
	p.mu.Lock()
	wrong := ""
	switch {
	case r.FormValue("grant_type") == "refresh_token":
		if r.FormValue("refresh_token") != p.refresh || p.refresh == "" {
			wrong = "invalid_grant"
		}
	case !approval.SameDigest(floodmark.DigestOf(r.FormValue("device_code")), floodmark.DigestOf(p.device.code)) || len(p.device.code) == 0 || p.device.used:
		wrong = "invalid_grant"
	case len(p.device.says) > 0:
		wrong, p.device.says = p.device.says[0], p.device.says[1:]
	case p.device.denied:
		wrong = "access_denied"
	case p.device.polls == 0 || !p.device.approved:
		wrong = "authorization_pending"
	}
	if wrong != "invalid_grant" {
		p.device.polls++
	}
	if wrong != "invalid_grant" && !p.device.slowed.IsZero() && time.Since(p.device.slowed) < slower {
		p.device.hasty = true
	}
	if wrong == "slow_down" {
		p.device.slowed = time.Now()
	}
	if wrong == "" {
		p.device.used = true
		p.refresh = "refresh-" + strconv.Itoa(p.device.polls)
	}
	issued, refresh := p.issued, p.refresh
	p.mu.Unlock()
	if wrong != "" {
		answer(w, http.StatusBadRequest, map[string]any{"error": wrong})
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": p.Sign(issued), "id_token": p.Sign(issued), "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600,
	})
}

// revoke ends a refresh token.
func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	p.mu.Lock()
	if r.FormValue("token") == p.refresh {
		p.refresh = ""
	}
	p.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}
