package client

import (
	"context"
	"net"
)

// DialBy lets a client connect in another way.
func (c *Client) DialBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.transport.DialContext = dial
}
