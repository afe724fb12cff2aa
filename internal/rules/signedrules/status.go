package signedrules

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A state says which rules are in force for a share of a tenant's sessions.
type state struct {
	bundle.Share
	rules  config.Rules
	strict bool  // strict rules are in force in place of the version
	err    error // why strict rules, or an older version, are in force
	ends   time.Time
}

// states returns which rules are in force for a tenant. Its caller holds the lock.
func (b *Book) states(tenant string) []state {
	h, now := b.of[tenant], b.opts.Now()
	if err := h.stale(now); err != nil {
		return []state{{Share: bundle.Share{Share: bundle.Everybody}, rules: b.strict, strict: true, err: err}}
	}
	var list []state
	for _, share := range h.rollout.Shares() {
		s := state{Share: share, ends: h.versions[share.Version].bundle.ValidUntil}
		s.rules, s.err = b.give(h, share.Version, now)
		s.strict = s.err != nil && s.rules.Policy == b.strict.Policy
		list = append(list, s)
	}
	return list
}

func (s state) of() string {
	if s.Share.Share == bundle.Everybody {
		return "for all sessions"
	}
	return "for " + bundle.Percent(s.Share.Share) + " of the sessions"
}

// wrong describes the problem of a state. It returns "" if there is none.
func (s state) wrong() string {
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

// soon is how long before it the expiry of a version is announced.
const soon = 7 * 24 * time.Hour

// Notes returns what people of a tenant should know about its bundles.
func (b *Book) Notes(tenant string) []string {
	if b == nil || b.opts.Settings(tenant) == nil {
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []string
	for _, s := range b.states(tenant) {
		switch text := s.wrong(); {
		case text != "":
			list = append(list, text)
		case s.ends.Sub(b.opts.Now()) < soon:
			list = append(list, fmt.Sprintf("bundles: version %d ends at %s, and then the profile strict holds %s (publish a version that holds longer)", s.Version, s.ends.UTC().Format(time.RFC3339), s.of()))
		}
	}
	return list
}

// A Status says which rules are in force for a tenant's sessions.
type Status struct {
	Rules   config.Rules   // the rules of most sessions
	Words   string         // which version each share of the sessions has
	Rollout bundle.Rollout // the last rollout that was read here
}

// Status returns which rules are in force for a tenant's sessions now.
func (b *Book) Status(tenant string) Status {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := Status{Rules: b.strict}
	if h := b.of[tenant]; h != nil {
		out.Rollout = h.rollout
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
	out.Words = strings.Join(words, ", ")
	return out
}

// TellTo sets the function that is called with problems. Problems that exist already are reported
// again, at the next look.
func (b *Book) TellTo(wrong func(tenant, text string)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = wrong
	clear(b.told) // the new function does not know the problems yet
}

// complain reports the problems of a tenant's bundles, if they have changed.
func (b *Book) complain(tenant string) {
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
