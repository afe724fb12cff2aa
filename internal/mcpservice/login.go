package mcpservice

import (
	"strings"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/mcphttp"
	"github.com/floodmark/floodmark/internal/mcplogin"
)

// LoginAt is what the gateway's file says of logging in at a server; not ok for
// one where nobody can.
func LoginAt(s config.GatewayServer) (at mcplogin.Server, ok bool) {
	if s.URL == "" {
		return mcplogin.Server{}, false
	}
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return mcplogin.Server{}, false // the owner gave it a key
		}
	}
	at = mcplogin.Server{Name: s.Name, URL: s.URL}
	if l := s.OAuth; l != nil {
		at.Issuer, at.ClientID, at.Scopes, at.Expected, at.Machine = l.Issuer, l.ClientID, l.Scopes, true, l.Grant == config.ByMachine
		if !l.ClientSecret.IsZero() {
			at.Secret = l.ClientSecret.Reveal
		}
	}
	return at, true
}

func holders(o Options) map[string]*mcplogin.Holder {
	all := map[string]*mcplogin.Holder{}
	for _, s := range o.Gateway.Servers {
		if at, ok := LoginAt(s); ok && o.Logins != nil {
			all[s.Name] = o.Logins.Holder(at)
		}
	}
	return all
}

// credential is what a server is shown; nil where nobody logs in.
func (s *Service) credential(server config.GatewayServer) mcphttp.Credential {
	if h := s.logins[server.Name]; h != nil {
		return h
	}
	return nil
}
