package daemon

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/verify"
)

// openVerifiers builds the gates that service.yaml describes. If a gate's secret is missing, the
// daemon does not start, and says why.
func (d *Daemon) openVerifiers() ([]verify.Verifier, error) {
	var list []verify.Verifier
	names, hooks := d.opts.Service.Webhooks()
	for i, settings := range hooks {
		o, err := settings.Options(names[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.opts.Paths.Service, err)
		}
		o.Now, o.Version = d.opts.Now, d.opts.Version
		h, err := webhook.New(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.opts.Paths.Service, names[i], err)
		}
		d.closers = append(d.closers, h.Close)
		list = append(list, h)
	}
	people, err := d.openGates()
	return append(list, people...), err
}

func newRequest() string { return uuid.NewString() }

// gateFailures shows in status which gates gave no answer. The journal has that already.
func (d *Daemon) gateFailures(entries []journal.Entry) {
	for _, e := range entries {
		if e.Kind != "verifier-answered" {
			continue
		}
		f, err := e.Fact()
		a, ok := f.(floodmark.VerifierAnswered)
		if err != nil || !ok || a.Failure == "" {
			continue
		}
		what := "the call was refused"
		if a.Verdict == floodmark.Allow {
			what = "failMode let the call pass"
		}
		d.notes.add("", "verifier-failed", fmt.Sprintf("%s gave no answer (%s), and %s", a.Verifier, a.Text, what), d.opts.Now())
	}
}
