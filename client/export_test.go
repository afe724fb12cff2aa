package client

import (
	"context"
	"net"
)

// DialBy makes a client reach its addresses in another way.
func (c *Client) DialBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.transport.DialContext = dial
}
