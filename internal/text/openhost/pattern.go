// Package openhost says on which hosts strangers can publish, and below which names strangers can
// register a host. It is not part of package address because the public suffix list has large
// dependencies, and floodmark-box, which starts before every command, must stay small.
package openhost

import (
	_ "embed" // for the list of hosts
	"strings"

	"golang.org/x/net/publicsuffix"
)

// A Pattern is a host, or «*.» and a domain for everything below it.
type Pattern struct {
	Domain string
	Below  bool
}

// ParsePattern reads a pattern, and reports whether s is one.
func ParsePattern(s string) (Pattern, bool) {
	p := Pattern{Domain: strings.ToLower(s)}
	if rest, ok := strings.CutPrefix(p.Domain, "*."); ok {
		p.Domain, p.Below = rest, true
	}
	for l := range strings.SplitSeq(p.Domain, ".") {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return Pattern{}, false
		}
	}
	return p, true
}

// Public reports whether the pattern covers names that anyone can register, according to the public
// suffix list: «*.com», «*.co.uk», «*.github.io».
func (p Pattern) Public() bool {
	own, _ := publicsuffix.PublicSuffix(p.Domain)
	below, _ := publicsuffix.PublicSuffix("x." + p.Domain)
	return p.Below && (own == p.Domain || below == "x."+p.Domain)
}

// Matches reports whether the pattern covers a host.
func (p Pattern) Matches(host string) bool {
	if p.Below {
		return strings.HasSuffix(host, "."+p.Domain)
	}
	return host == p.Domain
}

// Open returns a name on which strangers can publish and that the pattern covers, if there is one.
func (p Pattern) Open() (string, bool) {
	suffix, registry := publicsuffix.PublicSuffix(p.Domain)
	if !registry && strings.Contains(suffix, ".") && strings.Trim(suffix, "0123456789.") != "" {
		return suffix, true // its owner gives names below it to others; an IP address is not such a name
	}
	for s := range strings.Lines(openHosts) {
		s = strings.TrimSpace(s)
		under := p.Domain == s || strings.HasSuffix(p.Domain, "."+s)
		if under || p.Below && strings.HasSuffix(s, "."+p.Domain) {
			return s, true
		}
	}
	return "", false
}

// Is reports whether a host is known as one on which anyone can publish, so that a link from it may
// come from anyone.
func Is(host string) bool {
	_, open := Pattern{Domain: host}.Open()
	return open
}

// openHosts lists hosts on which anyone can publish, one in each line.
//
//go:embed open-hosts.txt
var openHosts string
