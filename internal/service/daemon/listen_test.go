package daemon

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// lastHeard is the last thing that every watcher is told of their own tenant.
const lastHeard = "the last that is heard"

// listen returns all that a watcher is told while something happens: first in acme, then in every
// tenant, which is told in this order. A refused watcher is told nothing.
func (f *fleet) listen(stream io.Reader, request []byte) string {
	f.t.Helper()
	var all strings.Builder
	for begun := false; ; begun = true {
		head := make([]byte, 5) // flags and length, as Connect has them
		if _, err := io.ReadFull(stream, head); err != nil {
			f.t.Fatal(err)
		}
		message := make([]byte, binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(stream, message); err != nil {
			f.t.Fatal(err)
		}
		all.Write(message)
		if ended := head[0]&2 != 0; ended || bytes.Contains(message, []byte(lastHeard)) {
			return all.String()
		}
		if !begun {
			f.happens(request)
		}
	}
}

// happens tells those who watch of something in acme, and then of something in every
// tenant: in the session that they want to hear of, if they named one.
func (f *fleet) happens(request []byte) {
	f.t.Helper()
	name := floodmark.SessionID("of-all")
	if bytes.Contains(request, []byte(`"`+namedCanary+`"`)) {
		name = namedCanary
	}
	tellOf := func(s journal.Session, text string) {
		entries, err := journal.Seal(s, journal.Link{}, now(), []floodmark.Fact{floodmark.IncidentSeen{Kind: "x", Text: text}})
		if err != nil {
			f.t.Fatal(err)
		}
		f.d.hub.Tell(monitor.Observation{Session: s, Entries: entries})
	}
	tellOf(journal.Session{Tenant: "acme", ID: namedCanary}, hiddenCanary)
	for _, tenant := range []string{"acme", "beta", "other", "ghost", ""} {
		tellOf(journal.Session{Tenant: tenant, ID: name}, lastHeard)
	}
}
