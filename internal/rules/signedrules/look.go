package signedrules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// held is the state of one tenant.
type held struct {
	rollout  bundle.Rollout
	versions map[uint64]opened // the versions of the rollout
	turn     uint64            // the turn in which the versions were compiled
	read     time.Time         // when the last answered request to the store was made
	failed   string            // why the store has not answered since
}

// An opened is a compiled version, or the reason why it cannot be used.
type opened struct {
	bundle bundle.Bundle
	rules  config.Rules
	err    error
}

// Look reads the tenant's current rollout, and its versions that are not known yet. If something
// cannot be read, the next call tries again.
func (b *Book) Look(ctx context.Context, tenant string) {
	at := b.opts.Now()
	b.mu.RLock()
	turn := b.turn
	var known held
	if h := b.of[tenant]; h != nil {
		known = *h
	}
	b.mu.RUnlock()
	fresh, err := b.look(ctx, tenant, known, turn)
	fresh.read = at
	if err != nil {
		b.unread(tenant, err)
	} else {
		b.put(tenant, fresh)
		if r := fresh.rollout; known.rollout.Serial != r.Serial {
			b.opts.Log.Info("a rollout of bundles holds", "tenant", tenant, "rollout", r.Serial, "stable", r.Stable, "next", r.Next, "share", r.Share, "by", r.By)
		}
	}
	b.complain(tenant)
}

// unread records that the store did not answer. The last rollout is kept.
func (b *Book) unread(tenant string, err error) {
	b.mu.Lock()
	var now held
	if h := b.of[tenant]; h != nil {
		now = *h
	}
	news := now.failed != err.Error() // an error that lasts is logged once
	now.failed = err.Error()
	b.of[tenant] = &now
	b.mu.Unlock()
	if news {
		b.opts.Log.Warn("look for bundles", "tenant", tenant, "error", err)
	}
}

// put stores what was read, unless a later rollout was stored meanwhile, or a new turn has begun.
func (b *Book) put(tenant string, fresh held) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.of[tenant]
	if fresh.turn == b.turn && (now == nil || now.rollout.Serial <= fresh.rollout.Serial) {
		b.of[tenant] = &fresh
	}
}

// look reads a tenant's rollout with its versions. It reuses versions that were read before in this
// turn, because bundles never change. It returns an error only if a retry may succeed.
func (b *Book) look(ctx context.Context, tenant string, known held, turn uint64) (held, error) {
	if known.turn != turn {
		known.versions = nil
	}
	r, news, err := b.ask(ctx, tenant, known)
	if err != nil {
		return held{}, err
	}
	fresh := held{rollout: r, versions: map[uint64]opened{}, turn: turn}
	for _, v := range []uint64{r.Stable, r.Next} {
		one, ok := known.versions[v]
		if sealed, is := news[v]; is {
			ok = true
			if one, err = b.open(tenant, v, sealed); err != nil {
				return held{}, err
			}
		}
		if ok {
			fresh.versions[v] = one
		}
	}
	return fresh, nil
}

// A found is a version as read from the store, or the error that there is none.
type found struct {
	sealed []byte
	none   error
}

// ask reads a tenant's rollout, and its versions that are not known yet. The timeout is only for
// this, because compiling the versions may take longer.
func (b *Book) ask(ctx context.Context, tenant string, known held) (bundle.Rollout, map[uint64]found, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := b.opts.Store.Now(ctx, tenant)
	if err != nil {
		return r, nil, err
	}
	if was := known.rollout; r.Serial < was.Serial || r.Floor < was.Floor {
		return r, nil, fmt.Errorf("rollout %d with floor %d follows rollout %d with floor %d: the store was set back", r.Serial, r.Floor, was.Serial, was.Floor)
	}
	all := map[uint64]found{}
	for _, v := range []uint64{r.Stable, r.Next} {
		if _, ok := known.versions[v]; ok || v == 0 {
			continue
		}
		var one found
		if one.sealed, err = b.opts.Store.Get(ctx, tenant, v); errors.Is(err, bundle.ErrNone) {
			one.none = err
		} else if err != nil {
			return r, nil, err
		}
		all[v] = one
	}
	return r, all, nil
}

// open verifies and compiles a version. If the version can never be used, the reason is in the
// result; an error is only returned if a retry may succeed.
func (b *Book) open(tenant string, version uint64, f found) (opened, error) {
	if f.none != nil {
		return opened{err: f.none}, nil //nolint:nilerr // said above
	}
	at, err := b.here()
	if err != nil {
		return opened{}, err
	}
	got, err := bundle.Open(f.sealed, b.opts.Settings(tenant).Believed())
	if err == nil {
		err = got.Usable(tenant, version, 0, got.Made)
	}
	if err != nil {
		return opened{err: err}, nil //nolint:nilerr // said above
	}
	rules, err := b.compile(tenant, got.Policy, at)
	return opened{bundle: got, rules: rules, err: err}, nil
}

// Again compiles all versions again, because the files of this installation may have changed. Until
// that is done the old rules stay in force. If something cannot be read now, the next look tries
// again.
func (b *Book) Again(ctx context.Context) error {
	if b == nil {
		return nil
	}
	if err := b.restrict(); err != nil {
		return err
	}
	b.mu.Lock()
	b.turn++
	clear(b.compiled)
	b.size = 0
	b.mu.Unlock()
	for _, tenant := range b.opts.Tenants {
		b.Look(ctx, tenant)
	}
	return nil
}
