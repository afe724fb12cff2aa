package oidctest

import (
	"net/http"
	"strconv"
)

// What the device flow shows and hides.
const (
	UserCode   = "WDJB-MJHT"
	deviceCode = "device-secret"
)

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	if r.FormValue("client_id") == "" {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"device_code": deviceCode, "user_code": UserCode, "verification_uri": p.URL + "/go", "verification_uri_complete": p.URL + "/go?code=" + UserCode,
		"expires_in": 600, "interval": 1,
	})
}

// token gives a token for a device that was approved, at the second time of
// asking, and for a refresh token.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if p.broken(w) {
		return
	}
	p.mu.Lock()
	wrong := ""
	switch {
	case r.FormValue("grant_type") == "refresh_token":
		if r.FormValue("refresh_token") != p.refresh || p.refresh == "" {
			wrong = "invalid_grant"
		}
	case r.FormValue("device_code") != deviceCode || p.device.used:
		wrong = "invalid_grant"
	case p.device.denied:
		wrong = "access_denied"
	case p.device.polls == 0 || !p.device.approved:
		wrong = "authorization_pending"
	}
	p.device.polls++
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
