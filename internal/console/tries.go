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
	maxTriers                    = 4096 // addresses that are counted
	maxWelcome                   = 2048 // addresses of them from which people logged in
	tidyPace                     = time.Second
	bitsOf4, bitsOf6             = 32, 64 // of an address that count: one network of IPv6 is one caller
)

// tries bounds the attempts to log in.
type tries struct {
	now func() time.Time

	mu      sync.Mutex // guards the fields below
	all     *rate.Limiter
	of      map[netip.Prefix]*trier
	welcome int // how many of them are
	tidied  time.Time
}

// A trier is an address that tries to log in. It is welcome once a person has logged in from it: what
// strangers try at other addresses does not keep it out.
type trier struct {
	pace    *rate.Limiter
	welcome bool
}

func newTries(now func() time.Time) *tries {
	return &tries{now: now, all: rate.NewLimiter(allTriesPace, allTriesAtOnce), of: map[netip.Prefix]*trier{}}
}

// caller returns the network that counts as one caller. All that cannot be read are one.
func caller(remote string) (from netip.Prefix) {
	if at, err := netip.ParseAddrPort(remote); err == nil {
		bits := bitsOf6
		if at.Addr().Unmap().Is4() {
			bits = bitsOf4
		}
		from, _ = at.Addr().Unmap().WithZone("").Prefix(bits) // bits fit the address
	}
	return from
}

// greet makes an address welcome, from which a person has logged in.
func (t *tries) greet(remote string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.of[caller(remote)]; one != nil && !one.welcome && t.welcome < maxWelcome {
		one.welcome = true
		t.welcome++
	}
}

// allow reports whether an address may try once more.
func (t *tries) allow(remote string) bool {
	from, now := caller(remote), t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.of[from]
	if one == nil {
		t.tidy(now)
		if len(t.of) >= maxTriers {
			return false
		}
		one = &trier{pace: rate.NewLimiter(triesPace, triesAtOnce)}
		t.of[from] = one
	}
	return one.pace.AllowN(now, 1) && (one.welcome || t.all.AllowN(now, 1))
}

// tidy forgets the addresses that did not try for long and are not welcome, if there are many.
func (t *tries) tidy(now time.Time) {
	if age := now.Sub(t.tidied); len(t.of) < maxTriers || age >= 0 && age < tidyPace {
		return // or each stranger had all of them looked at
	}
	t.tidied = now
	for from, one := range t.of {
		if !one.welcome && one.pace.TokensAt(now) >= triesAtOnce {
			delete(t.of, from)
		}
	}
}
