package mcpservice

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// The error of a server that was not reached, or that has ended, may contain the server's own
// words: its answer to initialize, or a line that is not a message. No relay has reported these
// words to the monitor, so a client must not see them: its model would read text that is not part
// of the session's mark. The error is shown only to people, by Options.Note.

// maxReason bounds an error that is shown to people, in bytes.
const maxReason = 500

// An ours is an error that contains no server's words.
type ours struct{ error }

// unreached shows people why a server is not running, and returns the error for the client.
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

// ended returns the error for the client when a server has ended.
func ended(err error) error {
	if errors.Is(err, mcpstdio.ErrTooLong) {
		return mcpstdio.ErrTooLong
	}
	return errors.New("the connection to it ended")
}

// note shows an error to people.
func (s *Service) note(server string, err error) {
	s.o.Note(server, floodmark.OneLine(err.Error(), maxReason))
}
