package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/sqlread"
	"github.com/floodmark/floodmark/internal/text/address"
)

// test is the condition of a case: exactly one of its lists is set.
type test struct {
	in       []string
	hosts    []string
	globs    []glob
	commands [][]string // first words
	given    bool       // any value except nothing, false and zero
	sql      bool       // one plain statement that reads a database
}

// fit says how far a test matches an argument.
type fit uint8

const (
	never  fit = iota
	partly     // for some values, or only loosely: may tighten
	wholly     // for every value, exactly: may replace
)

// fits tests every value of the argument. A missing argument does not fit.
func (c *when) fits(leaves []hook.Leaf, at Places) fit {
	found, all := false, true
	for i := range leaves {
		if leaves[i].Top != c.arg {
			continue
		}
		switch c.test.value(leaves[i].Value, at) {
		case never:
			all = false
		case partly:
			found, all = true, false
		case wholly:
			found = true
		}
	}
	switch {
	case !found:
		return never
	case all:
		return wholly
	default:
		return partly
	}
}

// plain reports whether the argument is one value, not a list or an object with parts that were not
// checked.
func (c *when) plain(leaves []hook.Leaf) bool {
	return !slices.ContainsFunc(leaves, func(l hook.Leaf) bool { return l.Top == c.arg && l.Path != c.arg })
}

func (t *test) value(v string, at Places) fit {
	switch {
	case t.given:
		if v == "" || v == "0" || v == "false" || v == "null" {
			return never
		}
		return wholly
	case t.sql:
		if sqlread.ReadsOnly(v) {
			return wholly
		}
		return never
	case t.in != nil:
		return t.word(v)
	case t.hosts != nil:
		return t.host(v)
	case t.globs != nil:
		return t.path(v, at)
	default:
		return t.command(v)
	}
}

func (t *test) word(v string) fit {
	if slices.Contains(t.in, v) {
		return wholly
	}
	v = strings.TrimSpace(v)
	for _, w := range t.in {
		if strings.EqualFold(w, v) {
			return partly
		}
	}
	return never
}

func (t *test) host(v string) fit {
	host, plain := address.HostOf(v)
	for _, h := range t.hosts {
		if address.MatchHost(h, host) {
			if plain {
				return wholly
			}
			return partly
		}
	}
	return never
}

func (t *test) path(v string, at Places) fit {
	if len(v) > MaxPathBytes {
		return never
	}
	var buf, exact [24]string
	s := spotAt(clean(v, at.Project, at.Home), at, buf[:])
	best := never
	for i := range t.globs {
		g := &t.globs[i]
		segs, ok := g.from(&s)
		if !ok || !g.low.Match(segs) {
			continue
		}
		written := splitPath(s.text, exact[:])
		if len(written) == len(s.segs) && g.segs.Match(written[len(written)-len(segs):]) {
			return wholly
		}
		best = partly
	}
	return best
}

func (t *test) command(v string) fit {
	var buf [16]string
	if words, ok := simple(v, buf[:]); ok {
		if t.begins(words) {
			return wholly
		}
		return never
	}
	for _, p := range pieces(v) {
		if t.begins(mentions(p)) {
			return partly
		}
	}
	return never
}

func (t *test) begins(words []string) bool {
	for _, c := range t.commands {
		if len(words) >= len(c) && slices.Equal(c, words[:len(c)]) {
			return true
		}
	}
	return false
}
