package daemon

import (
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/fleetlink"
)

// Line implements [owner.Fleet].
func (j *joined) Line() string {
	j.mu.Lock()
	m, link, wrong := j.member, j.link, j.wrong
	j.mu.Unlock()
	if wrong != "" {
		return "STRICT: " + wrong + "; put it back and restart, or «floodmark fleet leave» and join again"
	}
	if m == nil {
		return ""
	}
	var s fleetlink.State
	if link != nil {
		s = link.State()
	}
	return fmt.Sprintf("joined %s as machine %s; %s; %s", m.URL, m.Machine, j.rulesLine(s), contactLine(s))
}

// rulesLine says which rules hold, and what to do if they are strict.
func (j *joined) rulesLine(s fleetlink.State) string {
	if j.fleetRules() == nil {
		return "your own policy holds"
	}
	b, err := j.open(j.d.live.Time())
	next := "connect to the fleet for new ones"
	if s.Ended {
		next = "«floodmark fleet leave» brings your own policy back"
	}
	switch {
	case err == nil && j.d.live.Current().Shut != "":
		return "STRICT: " + j.d.live.Current().Shut
	case err == nil:
		text := fmt.Sprintf("bundle %d holds until %s", b.Version, b.ValidUntil.Local().Format(time.DateTime))
		if left := j.d.live.Current().Left; left != "" {
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
