package signedrules

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/config"
)

// errNoBundle says that no version is rolled out.
var errNoBundle = errors.New("no version is rolled out to it («floodmark fleet bundle rollout VERSION» does)")

// Rules are those of a session that descends from root. With an error they are
// strict, or those of the stable version, and the error says why: they hold either way.
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

// subject is what a session is drawn by. It is made with the tenant's key, so that an agent which
// chooses the name of its session does not choose its rules.
func (b *Book) subject(tenant string, root floodmark.SessionID) (string, error) {
	key, err := b.opts.Key(tenant)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte("floodmark bundle subject 1\x00" + string(root))) // a hash takes all
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// give returns the rules of one version. If the next version cannot be used at all the stable one
// holds; if it has expired no older one does.
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

// stale says that it is unknown what holds: a version may have been revoked since the store was
// last asked.
func (h *held) stale(now time.Time) error {
	if h == nil || h.read.IsZero() {
		return ErrUnasked
	}
	if age := now.Sub(h.read); age > staleAt || age < -staleAt {
		return ErrUnasked
	}
	return nil
}

// ErrUnasked says that it is unknown which version holds, so strict rules do. It leaves out the
// cause, because tenants see it; the log has that.
var ErrUnasked = errors.New("which version holds is not known, because the store of bundles does not answer (the operator finds the reason in the monitor's log)")
