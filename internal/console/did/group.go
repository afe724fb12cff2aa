package did

import (
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A group selects the sessions of agents whose questions some people answer. Who began a session is
// not recorded, so there is no other way to say which sessions are a group's. The zero group selects
// all sessions.
type group struct {
	name string
	of   func(agent string) []string
}

// errNoAgent is why a session cannot be assigned to a group.
var errNoAgent = errors.New("the beginning of the session was erased, so its agent is not known")

// groupOf returns a group by its name. It refuses one that answers for no agent of the tenant.
func (d *Desk) groupOf(tenant, name string) (group, error) {
	if name == "" {
		return group{}, nil
	}
	if d.opts.Groups == nil || !slices.Contains(d.opts.Groups(tenant), name) {
		return group{}, fmt.Errorf("%w: group: service.yaml names no such group that answers for whole agents", httpapi.ErrInvalid)
	}
	return group{name, func(agent string) []string { return d.opts.AnswersFor(tenant, agent) }}, nil
}

// groups lists the groups of the caller's tenant.
func (d *Desk) groups(who httpapi.Identity) (list []*wire.DidGroup) {
	if d.opts.Groups == nil {
		return nil
	}
	for _, name := range d.opts.Groups(who.Tenant) {
		list = append(list, &wire.DidGroup{Name: past.Foreign(name), Yours: slices.Contains(who.Groups, name)})
	}
	return list
}

// includes reports whether the sessions of an agent are selected.
func (g group) includes(agent string) bool {
	return g.name == "" || agent != "" && slices.Contains(g.of(agent), g.name)
}

// has reports whether a session is selected, and whether that is known.
func (g group) has(s past.Session) (selected, known bool) {
	if g.name == "" {
		return true, true
	}
	for _, f := range s.Facts {
		switch fact := f.Fact.(type) {
		case floodmark.SessionOpened:
			return g.includes(fact.Agent), true
		case floodmark.SessionForked:
			return g.includes(fact.Agent), true
		default:
		}
	}
	return false, false
}
