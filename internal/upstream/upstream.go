// Package upstream says what a server behind the gateway may be called and where
// it may be reached. It is apart from the gateway, so that reading the gateway's
// settings needs nothing of the protocol.
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
	// Separator stands between a server's name and the name it gave a thing.
	Separator = "__"
)

// CheckName says whether a server may have this name: letters, digits, - and _,
// so that clients take NAME__tool for a name, and no end in _ nor two in a row,
// so that one name is read one way.
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

// CheckURL says whether a server may be reached there.
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
