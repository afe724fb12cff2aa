package mcpservice

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/mcpshare"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// hubs returns the servers that the owner lets all clients share. Each starts when a client needs
// it, and then runs until the gateway stops.
func (s *Service) hubs() map[string]*mcpshare.Hub {
	hubs := map[string]*mcpshare.Hub{}
	for _, server := range s.o.Gateway.Servers {
		if server.Shared {
			hubs[server.Name] = mcpshare.New(mcpshare.Options{
				Name: server.Name, Version: s.o.Version, Now: s.o.now,
				Dial:   func(ctx context.Context) (mcp.Connection, error) { return s.reach(ctx, server) },
				Report: func(line string) { s.note(server.Name, errors.New(line)) },
			})
		}
	}
	return hubs
}

// connect returns a client's connection to a server: to a shared one, or to one of its own.
func (s *Service) connect(ctx context.Context, server config.GatewayServer) (mcp.Connection, error) {
	if hub := s.shared[server.Name]; hub != nil {
		return hub.Join(ctx)
	}
	return s.reach(ctx, server)
}

// closeShared ends the shared servers, all at once, and waits for them.
func (s *Service) closeShared() {
	var all sync.WaitGroup
	for _, hub := range s.shared {
		all.Go(func() { _ = hub.Close() }) // the errors are of the servers
	}
	all.Wait()
}
