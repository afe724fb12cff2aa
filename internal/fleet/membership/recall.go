package membership

import (
	"context"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The kinds of incidents that record that a laptop joined or left a fleet. The last such incident
// tells whether the laptop is in a fleet.
const (
	joinedKind = "joined-fleet"
	leftKind   = "left-fleet"
)

// joinedWords returns the end of the record that a laptop joined. It names the membership, so that
// another one is noticed.
func joinedWords(m fleetlink.Membership) string {
	return " joined this laptop to " + m.URL + " as machine " + m.Machine + ", membership " + m.Print()
}

// Needs reports whether a session contains the record that this laptop joined, and must not be
// erased by age or by hand. Without the record it would not be noticed that the membership file was
// deleted or replaced.
func (j *Laptop) Needs(s journal.Session) bool {
	if s != (journal.Session{ID: monitor.Incidents}) {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.member != nil || j.wrong != ""
}

// recall compares the membership on disk with the journal. If the file was deleted, changed or
// written by anything but Join, strict rules take effect and no fleet is contacted.
func (j *Laptop) recall(ctx context.Context) error {
	if j.opts.Service.Journal.InDatabase() {
		return nil // a node joins none
	}
	var last floodmark.IncidentSeen
	session := journal.Session{ID: monitor.Incidents}
	unread := false
	for e, err := range j.node.Journal.Read(ctx, session, 0) {
		if err != nil {
			j.opts.Log.Error("whether this laptop joined a fleet cannot be read in the journal", "error", err)
			unread = true
			break
		}
		fact, err := factjson.Decode(e.Kind, e.Body)
		if seen, is := fact.(floodmark.IncidentSeen); err == nil && is && (seen.Kind == joinedKind || seen.Kind == leftKind) {
			last = seen
		}
	}
	j.mu.Lock()
	switch file := j.opts.Paths.Fleet; {
	case unread:
		j.wrong = "the journal cannot be read where it says whether this laptop joined a fleet"
	case j.member == nil && last.Kind == joinedKind:
		j.wrong = "this laptop joined a fleet, and " + file + " is gone"
	case j.member != nil && last.Kind != joinedKind:
		j.wrong = "the journal knows of no fleet, and " + file + " names one"
	case j.member != nil && !strings.HasSuffix(last.Text, joinedWords(*j.member)):
		j.wrong = file + " is not as it was written when this laptop joined"
	}
	wrong := j.wrong
	if wrong != "" {
		j.member = nil
	}
	j.mu.Unlock()
	if wrong == "" {
		return nil
	}
	j.node.Incident(ctx, "fleet-changed", wrong+"; strict rules hold until you run «floodmark fleet leave»")
	return j.node.Rules.Join(j.FleetRules())
}
