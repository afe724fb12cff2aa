package console

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How often one address, and all together, may try to log in. A login takes two tries, and each try
// may ask the identity provider.
const (
	triesPace, triesAtOnce       = rate.Limit(0.5), 20
	allTriesPace, allTriesAtOnce = rate.Limit(10), 100
	maxTriers                    = 4096   // addresses that are counted
	bitsOf4, bitsOf6             = 32, 64 // of an address that count: one network of IPv6 is one caller
)

// tries bounds the attempts to log in.
type tries struct {
	now func() time.Time

	mu  sync.Mutex // guards the fields below
	all *rate.Limiter
	of  map[netip.Prefix]*rate.Limiter
}

func newTries(now func() time.Time) *tries {
	return &tries{now: now, all: rate.NewLimiter(allTriesPace, allTriesAtOnce), of: map[netip.Prefix]*rate.Limiter{}}
}

// allow reports whether an address may try once more. An address that is not known counts as one.
func (t *tries) allow(remote string) bool {
	var from netip.Prefix
	if at, err := netip.ParseAddrPort(remote); err == nil {
		bits := bitsOf6
		if at.Addr().Unmap().Is4() {
			bits = bitsOf4
		}
		from, _ = at.Addr().Unmap().WithZone("").Prefix(bits) // bits fit the address
	}
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.of[from]
	if one == nil {
		t.tidy(now)
		if len(t.of) >= maxTriers {
			return false
		}
		one = rate.NewLimiter(triesPace, triesAtOnce)
		t.of[from] = one
	}
	return one.AllowN(now, 1) && t.all.AllowN(now, 1)
}

// tidy forgets the addresses that did not try for long, if there are many.
func (t *tries) tidy(now time.Time) {
	if len(t.of) < maxTriers {
		return
	}
	for from, one := range t.of {
		if one.TokensAt(now) >= triesAtOnce {
			delete(t.of, from)
		}
	}
}
