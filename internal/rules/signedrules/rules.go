package signedrules

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// errNoBundle means that no version is rolled out.
var errNoBundle = errors.New("no version is rolled out to it («floodmark fleet bundle rollout VERSION» does)")

// Rules returns the rules of a session that descends from root. They are valid even if there is an
// error. Then they are strict, or those of the stable version, and the error says why.
func (b *Book) Rules(tenant string, root floodmark.SessionID) (config.Rules, error) {
	subject, err := b.subject(tenant, root)
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err != nil {
		return b.strict, err
	}
	h, now := b.of[tenant], b.opts.Now()
	if err := h.stale(now); err != nil {
		return b.strict, err
	}
	return b.give(h, h.rollout.For(subject), now)
}

// subject returns the text by which a session is assigned to a version. It is made with the
// tenant's key, so that an agent cannot choose its rules by choosing the name of its session.
func (b *Book) subject(tenant string, root floodmark.SessionID) (string, error) {
	key, err := b.opts.Key(tenant)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte("floodmark bundle subject 1\x00" + string(root))) // a hash returns no error
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// give returns the rules of one version. If the next version cannot be used, it returns the stable
// one; but if the next version has expired, it returns strict rules and no older version.
func (b *Book) give(h *held, version uint64, now time.Time) (config.Rules, error) {
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

// stale returns an error if the store has not answered for staleAt. Versions may have been revoked
// since, so it is not known which one is valid.
func (h *held) stale(now time.Time) error {
	if h == nil || h.read.IsZero() {
		return ErrUnasked
	}
	if age := now.Sub(h.read); age > staleAt || age < -staleAt {
		return ErrUnasked
	}
	return nil
}

// ErrUnasked means that it is not known which version is valid, so strict rules are in force. Its
// text leaves out the cause, which is in the log, because tenants see the text.
var ErrUnasked = errors.New("which version holds is not known, because the store of bundles does not answer (the operator finds the reason in the monitor's log)")
