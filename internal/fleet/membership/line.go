package membership

import (
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/rules/bundle"
)

// Line implements [owner.Fleet].
func (j *Laptop) Line() string {
	j.mu.Lock()
	m, wrong := j.member, j.wrong
	j.mu.Unlock()
	if wrong != "" {
		return "STRICT: " + wrong + "; put it back and restart, or «floodmark fleet leave» and join again"
	}
	if m == nil {
		return ""
	}
	s, _ := j.State()
	return fmt.Sprintf("joined %s as machine %s; %s; %s", m.URL, m.Machine, j.rulesLine(s), contactLine(s))
}

// State returns how the fleet is reached; false if it is not contacted.
func (j *Laptop) State() (fleetlink.State, bool) {
	j.mu.Lock()
	link := j.link
	j.mu.Unlock()
	if link == nil {
		return fleetlink.State{}, false
	}
	return link.State(), true
}

// rulesLine says which rules are in effect, and what to do if they are strict.
func (j *Laptop) rulesLine(s fleetlink.State) string {
	if j.FleetRules() == nil {
		return "your own policy holds"
	}
	b, err := j.open(j.node.Rules.Time())
	next := "connect to the fleet for new ones"
	if s.Ended {
		next = "«floodmark fleet leave» brings your own policy back"
	}
	switch {
	case err == nil && j.node.Rules.Current().Shut != "":
		return "STRICT: " + j.node.Rules.Current().Shut
	case err == nil:
		text := fmt.Sprintf("bundle %d holds until %s", b.Version, b.ValidUntil.Local().Format(time.DateTime))
		if left := j.node.Rules.Current().Left; left != "" {
			text += " (" + left + ")"
		}
		return text
	case errors.Is(err, bundle.ErrExpired):
		return fmt.Sprintf("STRICT: bundle %d ended at %s; %s", b.Version, b.ValidUntil.Local().Format(time.DateTime), next)
	case j.given() == 0:
		return "STRICT: the fleet has no rules for this machine; ask its operator to roll a bundle out, or «floodmark fleet leave»"
	}
	return fmt.Sprintf("STRICT: the rules of the fleet that lie here cannot be used (%v); %s", err, next)
}

// contactLine says whether the fleet is reached.
func contactLine(s fleetlink.State) string {
	text := "not reached yet"
	if !s.Contact.IsZero() {
		text = "last contact " + s.Contact.Local().Format(time.DateTime)
	}
	switch {
	case s.Ended:
		text = "REVOKED: the fleet does not know this machine any more; «floodmark fleet leave»"
	case s.Trouble != "":
		text += ", now: " + s.Trouble
	}
	if s.Behind > 0 && !s.Ended {
		text += fmt.Sprintf(", %d sessions not known to be uploaded", s.Behind)
	}
	if s.Forked > 0 {
		text += fmt.Sprintf("; of %d sessions the fleet has something else: this journal was put back from a copy, so leave and join again", s.Forked)
	}
	return text
}
