package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// errNoBundle says that nobody has rolled out a version.
var errNoBundle = errors.New("no version is rolled out to it («floodmark bundle rollout VERSION» does)")

// rulesOf are the rules a session is judged by: those of its tenant's bundle, or
// of policy.yaml where its tenant has no bundles.
func (d *Daemon) rulesOf(s journal.Session, root floodmark.SessionID) kernel.Rules {
	if d.opts.Service.BundlesOf(s.Tenant) == nil {
		return d.live.rules()
	}
	r, _ := d.bundles.rules(s.Tenant, root)
	r.Gates = d.live.gates
	return r.Rules
}

// rules are those of a session that descends from root. With an error they are
// strict, or those of the stable version, and the error says why.
func (b *bundles) rules(tenant string, root floodmark.SessionID) (config.Rules, error) {
	subject, err := b.subject(tenant, root)
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err != nil {
		return b.strict, err
	}
	h, now := b.of[tenant], b.now()
	if err := h.stale(now); err != nil {
		return b.strict, err
	}
	return b.give(h, h.rollout.For(subject), now)
}

// give returns the rules of one version. Where the next version cannot be used
// at all the stable one holds; where its time is over nothing older does.
func (b *bundles) give(h *held, version uint64, now time.Time) (config.Rules, error) {
	if version == 0 {
		return b.strict, errNoBundle
	}
	err := h.usable(version, now)
	if err == nil {
		return h.versions[version].rules, nil
	}
	if stable := h.rollout.Stable; version != stable && stable != 0 && !errors.Is(err, bundle.ErrExpired) && h.usable(stable, now) == nil {
		return h.versions[stable].rules, fmt.Errorf("version %d cannot be used, so version %d holds: %w", version, stable, err)
	}
	return b.strict, err
}

func (h *held) usable(version uint64, now time.Time) error {
	v, ok := h.versions[version]
	switch {
	case !ok:
		return fmt.Errorf("version %d: %w", version, bundle.ErrNone)
	case v.err != nil:
		return v.err
	}
	return v.bundle.Usable(h.rollout.Tenant, version, h.rollout.Floor, now)
}

// stale says that nobody knows what holds: a version may have been revoked since
// the store was last asked.
func (h *held) stale(now time.Time) error {
	if h == nil || h.read.IsZero() {
		return errUnasked
	}
	if age := now.Sub(h.read); age > bundleStale || age < -bundleStale {
		return errUnasked
	}
	return nil
}

// errUnasked leaves out what went wrong: tenants hear it. The log has that.
var errUnasked = errors.New("which version holds is not known, because the store of bundles does not answer (whoever runs the monitor finds the reason in its log)")

// A bundleState is what holds for a share of a tenant's sessions.
type bundleState struct {
	bundle.Share
	rules  config.Rules
	strict bool  // in place of the version
	err    error // why, or why an older version holds
	ends   time.Time
}

// states say what holds for a tenant. The caller holds the lock.
func (b *bundles) states(tenant string) []bundleState {
	h, now := b.of[tenant], b.now()
	if err := h.stale(now); err != nil {
		return []bundleState{{Share: bundle.Share{Share: bundle.Everybody}, rules: b.strict, strict: true, err: err}}
	}
	var list []bundleState
	for _, share := range h.rollout.Shares() {
		s := bundleState{Share: share, ends: h.versions[share.Version].bundle.ValidUntil}
		s.rules, s.err = b.give(h, share.Version, now)
		s.strict = s.err != nil && s.rules.Policy == b.strict.Policy
		list = append(list, s)
	}
	return list
}

func (s bundleState) of() string {
	if s.Share.Share == bundle.Everybody {
		return "for all sessions"
	}
	return "for " + bundle.Percent(s.Share.Share) + " of the sessions"
}

// wrong says what is wrong; empty if nothing is.
func (s bundleState) wrong() string {
	switch {
	case s.strict && errors.Is(s.err, bundle.ErrExpired):
		return fmt.Sprintf("bundles: the profile strict holds %s: %s (publish a new version, and roll it out)", s.of(), s.err)
	case s.strict:
		return fmt.Sprintf("bundles: the profile strict holds %s: %s", s.of(), s.err)
	case s.err != nil:
		return fmt.Sprintf("bundles: %s %s", s.of(), s.err)
	}
	return ""
}

// soon is how long before its end somebody is told of a version's.
const soon = 7 * 24 * time.Hour

// notes are what a person of a tenant should know of its bundles.
func (b *bundles) notes(tenant string) []string {
	if b == nil || b.settings(tenant) == nil {
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []string
	for _, s := range b.states(tenant) {
		switch text := s.wrong(); {
		case text != "":
			list = append(list, text)
		case s.ends.Sub(b.now()) < soon:
			list = append(list, fmt.Sprintf("bundles: version %d ends at %s, and then the profile strict holds %s (publish a version that holds longer)", s.Version, s.ends.UTC().Format(time.RFC3339), s.of()))
		}
	}
	return list
}

// status says which rules hold for most sessions of a tenant, and in words which
// for the others.
func (b *bundles) status(tenant string) owner.Rules {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := owner.Rules{Rules: b.strict}
	if h := b.of[tenant]; h != nil {
		out.Loaded = h.rollout.At
	}
	most := -1
	var words []string
	for _, s := range b.states(tenant) {
		if s.Share.Share > most {
			most, out.Rules = s.Share.Share, s.rules
		}
		word := fmt.Sprintf("version %d %s", s.Version, s.of())
		if s.strict {
			word = "the profile strict " + s.of()
		}
		words = append(words, word)
	}
	out.Bundle = strings.Join(words, ", ")
	return out
}

// forOwner is what owners publish and roll out by.
func (b *bundles) forOwner() *owner.Bundles {
	if b == nil {
		return nil
	}
	return &owner.Bundles{
		Store: b.store, Settings: b.settings,
		Compile: func(tenant string, text []byte) (config.Rules, error) {
			at, err := b.here()
			if err != nil {
				return config.Rules{}, err
			}
			return b.compile(tenant, text, at)
		},
		Look: func(ctx context.Context, tenant string) { b.refresh(ctx, tenant) },
	}
}

// tellTo says whom to tell what is wrong, and tells it.
func (b *bundles) tellTo(wrong func(tenant, text string)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = wrong
	clear(b.told) // nobody heard it
}

// bundleWrong writes down that bundles of a tenant need somebody's attention.
func (d *Daemon) bundleWrong(tenant, text string) {
	d.opts.Log.Warn("bundles", "tenant", tenant, "error", text)
	seen := floodmark.IncidentSeen{Kind: "bundle-unusable", Text: text}
	ctx, cancel := context.WithTimeout(context.Background(), incidentTime)
	defer cancel()
	if err := d.monitor.Note(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, seen); err != nil {
		d.opts.Log.Error("an incident could not be written down", "kind", seen.Kind, "error", err)
	}
}

// complain tells, once, what is wrong with the bundles of a tenant.
func (b *bundles) complain(tenant string) {
	b.mu.Lock()
	var lines []string
	for _, s := range b.states(tenant) {
		if text := s.wrong(); text != "" {
			lines = append(lines, text)
		}
	}
	text := strings.Join(lines, "; ")
	news := text != b.told[tenant] && text != ""
	b.told[tenant] = text
	tell := b.wrong
	b.mu.Unlock()
	if news {
		tell(tenant, text)
	}
}
