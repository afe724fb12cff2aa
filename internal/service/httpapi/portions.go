package httpapi

import (
	"sync"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// What one tenant's machines may send at once, and what one machine may. One machine has room for
// the largest upload and a few small calls. So a slow sender delays no other machine, of its own
// tenant or another.
const (
	maxTenantInFlight  = maxMachinesInFlight / 2
	maxMachineInFlight = MaxMachineBytes + MaxMachineBytes/4
)

// portions hands out parts of a budget to tenants and their machines while they send. The zero
// portions have no budget.
type portions struct {
	whole *hookframe.Budget

	mu sync.Mutex // guards in
	in map[portionKey]*portion
}

// portionKey names a machine or, without a machine, a whole tenant.
type portionKey struct{ tenant, machine string }

type portion struct {
	budget *hookframe.Budget
	users  int
}

// of returns the caller's part. The caller must call let once.
func (p *portions) of(who Identity) (part *hookframe.Budget, let func()) {
	tenant := portionKey{tenant: who.Tenant}
	machine := portionKey{who.Tenant, who.Channel + "/" + who.Name}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.use(tenant, p.whole, maxTenantInFlight)
	return p.use(machine, all, maxMachineInFlight), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.leave(machine)
		p.leave(tenant)
	}
}

// use returns a part, and makes it on first use. The caller holds the lock.
func (p *portions) use(k portionKey, of *hookframe.Budget, limit int64) *hookframe.Budget {
	if p.in == nil {
		p.in = map[portionKey]*portion{}
	}
	one := p.in[k]
	if one == nil {
		one = &portion{budget: of.Share(limit)}
		p.in[k] = one
	}
	one.users++
	return one.budget
}

func (p *portions) leave(k portionKey) {
	if p.in[k].users--; p.in[k].users == 0 {
		delete(p.in, k)
	}
}
