package pushreview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/address"
)

// A Named is a host that a file names after a push and did not name before. Code that others
// planted usually has to name the host to which it sends data.
type Named struct{ Host, File string }

// maxNamed bounds the hosts that are listed by name.
const maxNamed = 4

// named records the hosts that one file did not name before. It searches the whole file, not only
// the lines that are shown.
func (s *shower) named(c change, was, now []byte) {
	before := hosts(was)
	for _, h := range hosts(now) {
		_, known := slices.BinarySearch(before, h)
		if !known && !slices.ContainsFunc(s.names, func(n Named) bool { return n.Host == h }) {
			s.names = append(s.names, Named{Host: h, File: c.path})
		}
	}
}

// hosts returns the hosts that URLs and mail addresses of a text name, sorted, without this
// machine. A bare name with dots is often a file or a field, so it is left out.
func hosts(text []byte) (list []string) {
	for t := range tokens.Tokens(string(text)) {
		host := ""
		switch t.Kind {
		case tokens.URL:
			host, _ = address.HostOf(t.Text)
		case tokens.Address:
			host = t.Text[strings.LastIndexByte(t.Text, '@')+1:]
		default:
		}
		if host != "" && !address.Loopback(host) {
			list = append(list, host)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// namedLine returns a line with the new hosts; empty if there are none.
func (s *shower) namedLine() string {
	if len(s.names) == 0 {
		return ""
	}
	var words []string
	for _, n := range s.names[:min(len(s.names), maxNamed)] {
		words = append(words, name(n.Host)+" in "+name(n.File))
	}
	if more := len(s.names) - maxNamed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return "Names hosts that these files did not name before: " + strings.Join(words, ", ")
}
