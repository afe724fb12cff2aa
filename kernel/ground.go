package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

func (st *step) ref(server, name string) floodmark.ToolRef {
	return floodmark.ToolRef{Agent: st.ev.Agent, Server: server, Name: name}
}

func (st *step) places() catalog.Places {
	return catalog.Places{Project: st.s.Project, Home: st.s.Home}
}

func (st *step) settings() policy.Settings { return st.r.Policy.Settings(st.ev.Agent) }

// tracer returns a tracer that looks for values only in the nodes before a given one.
func (st *step) tracer(nodes floodmark.NodeID) *provenance.Tracer {
	tr := &provenance.Tracer{Key: st.in.Key, Also: st.in.Also, Index: st.in.Index, Stated: &st.s.stated, Ledger: &st.s.Ledger}
	if tr.Index != nil && nodes < floodmark.NodeID(st.s.Ledger.Len()) {
		tr.Index = earlier{index: tr.Index, nodes: nodes}
	}
	return tr
}

// earlier is an index as it was when there were fewer nodes.
type earlier struct {
	index provenance.Index
	nodes floodmark.NodeID
}

// Find leaves out the spans of later nodes.
func (e earlier) Find(h provenance.Hash, from floodmark.NodeID, most int) []floodmark.Span {
	spans := e.index.Find(h, from, most)
	later, _ := slices.BinarySearchFunc(spans, e.nodes, func(s floodmark.Span, n floodmark.NodeID) int { return int(s.Node - n) })
	return spans[:later]
}

// returns returns the label that a call's result brings, by what is read and where.
func (st *step) returns(ref floodmark.ToolRef, use catalog.Use, leaves []hook.Leaf) floodmark.Label {
	return st.r.Returns(st.ev.Agent, ref, use, leaves, st.places())
}

// Returns returns the label that the result of a call would bring an agent, by what is read and
// where.
func (r Rules) Returns(agent string, ref floodmark.ToolRef, use catalog.Use, leaves []hook.Leaf, at catalog.Places) floodmark.Label {
	return r.placed(agent, ref, use.Returns, use.LocationOf(leaves), use.Place, at)
}

// placed returns the label of a result after the policy's rules on its place and its tool.
func (st *step) placed(ref floodmark.ToolRef, l floodmark.Label, location, place string) floodmark.Label {
	return st.r.placed(st.ev.Agent, ref, l, location, place, st.places())
}

func (r Rules) placed(agent string, ref floodmark.ToolRef, l floodmark.Label, location, place string, at catalog.Places) floodmark.Label {
	if strings.HasPrefix(location, catalog.OfProgram) && !r.Policy.ProjectLocal() {
		l = floodmark.Label{Secrecy: min(l.Secrecy, floodmark.Private)} // what it read is not known
	} else if kind, ok := catalog.PlaceKind(location); ok {
		l = r.Policy.PlaceLabel(l, place, kind, at.Project != "", at.Home)
	}
	if r.Policy.Caution(ref) {
		l.Trust = floodmark.Untrusted
	}
	return l
}

// callID returns the name of a call. If its agent gave none, it is made from the tool and
// arguments.
func callID(c hook.Call) floodmark.CallID {
	if c.ID != "" {
		return c.ID
	}
	return floodmark.CallID("args:" + floodmark.DigestOf(c.Server+"\x00"+c.Name+"\x00"+string(c.Args)).Short())
}
