// Package openhost says on which hosts strangers publish, and below which names they can
// register one. It is apart from package address because the public suffix list brings
// half of the network's protocols along, and floodmark-box starts before every command.
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

// ParsePattern reads one; it reports whether s is one.
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

// Public reports whether the pattern covers names that anyone can register, by
// the public suffix list: «*.com», «*.co.uk», «*.github.io».
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

// Open returns the place where strangers write that the pattern covers.
func (p Pattern) Open() (string, bool) {
	suffix, registry := publicsuffix.PublicSuffix(p.Domain)
	if !registry && strings.Contains(suffix, ".") && strings.Trim(suffix, "0123456789.") != "" {
		return suffix, true // who has it gives names below it to others; an address of numbers is none
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

// Is reports whether anyone can publish on a host, so that a link which it
// gives may be a stranger's. Of hosts it does not list nothing is known.
func Is(host string) bool {
	_, open := Pattern{Domain: host}.Open()
	return open
}

// openHosts lists hosts on which anyone can publish, one in a line.
//
//go:embed open-hosts.txt
var openHosts string
