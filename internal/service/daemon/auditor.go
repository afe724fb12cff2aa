package daemon

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// openAuditor prepares the client of the model that service.yaml names, if it names one. The model
// is first called when the policy wants an opinion.
func (d *Daemon) openAuditor() error {
	set := d.opts.Service.Auditor
	if set == nil {
		return nil
	}
	a, err := set.Open(d.opts.Now)
	if err != nil {
		return err
	}
	d.auditor = a
	d.closers = append(d.closers, a.Close)
	return nil
}

// auditing returns the auditor for the monitor; without one a person is asked.
func (d *Daemon) auditing() audit.Auditor {
	if d.auditor == nil {
		return nil
	}
	return d.auditor
}

// recentFailure is how long a failure of the auditor is shown.
const recentFailure = time.Hour

// auditorNotes returns a warning if only one of the policy and service.yaml wants an auditor, or if
// the auditor failed recently.
func (d *Daemon) auditorNotes() []string {
	on := d.rulesFor("").Policy.Settings("").AuditorOn
	switch {
	case on && d.auditor == nil:
		return []string{"auditor: the policy wants one, and service.yaml names none: a person is asked instead (write auditor: there, with endpoint and model)"}
	case !on && d.auditor != nil:
		return []string{"auditor: service.yaml names one, and the policy asks none (write auditor: {on: true} into the policy)"}
	case !on:
		return nil
	}
	h := d.auditor.Health()
	if h.LastFailure == "" || d.opts.Now().Sub(h.LastFailureAt) > recentFailure {
		return nil
	}
	return []string{fmt.Sprintf("auditor: at %s it %s; since the monitor runs it gave %d answers and failed %d times («floodmark doctor auditor» asks it now)",
		h.LastFailureAt.Format(time.TimeOnly), h.LastFailure, h.Allowed+h.Blocked+h.Unsure, h.Failed)}
}
