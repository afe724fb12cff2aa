package mcpservice

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/mcpgateway"
)

// The error of a server that was not reached, or ended, may hold its own words: its answer to
// initialize, or a line that is no message. No relay has taken those in, so no client is told: its
// model would read text that no mark counts. People are told, in a line of their own.

// maxReason bounds the reason that people are told, in bytes.
const maxReason = 500

// An ours is an error that holds no server's words.
type ours struct{ error }

// unreached notes why a server is not running and returns the client's error.
func (s *Service) unreached(server config.GatewayServer, err error) error {
	s.note(server.Name, err)
	if own, is := errors.AsType[ours](err); is {
		return own.error
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errors.New("it is still starting")
	}
	if at, ok := LoginAt(server); ok && s.o.Logins != nil {
		if state, err := s.o.Logins.State(at); err == nil && state.Wanted {
			return fmt.Errorf("it wants a login; its owner runs: floodmark mcp login %s", server.Name)
		}
	}
	return errors.New("it does not begin as a server does; its owner sees why where «floodmark mcp serve» runs")
}

// ended returns the client's error for the end of a server.
func ended(err error) error {
	if errors.Is(err, mcpgateway.ErrTooLong) {
		return mcpgateway.ErrTooLong
	}
	return errors.New("the connection to it ended")
}

// note tells people of an error.
func (s *Service) note(server string, err error) {
	s.o.Note(server, floodmark.OneLine(err.Error(), maxReason))
}
