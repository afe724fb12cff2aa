// Package upstream checks the names and addresses of servers behind the gateway. It is separate
// from the gateway, so that code which only reads the gateway's settings does not depend on the
// protocol.
package upstream

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const (
	// MaxServers bounds the servers behind one client.
	MaxServers = 64
	// MaxName bounds a server's name.
	MaxName = 32
	// Separator is between a server's name and the name of one of its tools or other things.
	Separator = "__"
)

// CheckName returns why a server may not have this name, or nil. A name consists of letters,
// digits, - and _, so that clients accept NAME__tool as a name. It does not contain __ or end in _,
// so that NAME__tool can be split in only one way.
func CheckName(name string) error {
	fits := func(r rune) bool {
		return r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	switch {
	case name == "" || len(name) > MaxName:
		return fmt.Errorf("server %q: a name has 1 to %d characters", name, MaxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !fits(r) }):
		return fmt.Errorf("server %q: a name is made of letters, digits, - and _", name)
	case strings.Contains(name, Separator) || strings.HasSuffix(name, "_"):
		return fmt.Errorf("server %q: a name has no %s in it and no _ at its end", name, Separator)
	}
	return nil
}

// CheckURL returns why a server may not have this address, or nil.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("want https://HOST/PATH, or http:// on this machine")
	case u.User != nil:
		return errors.New("a name or password in an address is shown in too many places; use headers")
	}
	return nil
}
