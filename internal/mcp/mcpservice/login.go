package mcpservice

import (
	"strings"

	"github.com/floodmark/floodmark/internal/mcp/mcphttp"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// LoginAt returns the settings for the login at a server in the gateway's file. It returns false
// for a command, and for a server that gets a key in a header.
func LoginAt(s config.GatewayServer) (at mcplogin.Server, ok bool) {
	if s.URL == "" {
		return mcplogin.Server{}, false
	}
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return mcplogin.Server{}, false // the owner has set a key for the server
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

// credential returns the credential of a server, or nil if the server has no login.
func (s *Service) credential(server config.GatewayServer) mcphttp.Credential {
	if h := s.logins[server.Name]; h != nil {
		return h
	}
	return nil
}
