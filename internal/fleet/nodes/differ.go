package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// AliveFor is how long a node is compared after it was last heard of.
	AliveFor = 2 * time.Minute
	// upgradeTime is how long nodes may run different programs before a person is warned: as long
	// as upgrading them one by one takes.
	upgradeTime = time.Hour
	// maxNamed bounds how many nodes a line names. maxLines bounds the lines.
	maxNamed = 5
	maxLines = 8
)

// A Difference says how nodes differ.
type Difference struct {
	// Counts is, for each what, how many nodes differ from the largest group of equal nodes.
	Counts map[string]int
	// Warnings are what a person should look at, one line each.
	Warnings []string
	// Note is a difference that is usual for a while: an upgrade that is under way.
	Note string
}

// Compare compares the nodes that were heard of within [AliveFor]. Each what is compared only among
// the nodes that report it, because older programs do not report all.
func Compare(all []Heard, now time.Time) Difference {
	all = slices.DeleteFunc(slices.Clone(all), func(h Heard) bool { return h.Ago > AliveFor })
	slices.SortFunc(all, func(a, b Heard) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	names := named(all)
	d := Difference{Counts: map[string]int{}}
	var lines []line
	for _, what := range Whats() {
		for _, p := range parted(all, what) {
			since := p.since(now)
			d.Counts[what] += p.odd()
			switch {
			case what != Program:
				lines = p.lines(lines, names, what, since)
			case now.Sub(since) < upgradeTime:
				d.Note = p.programs(names, since) + ": an upgrade is under way"
			default:
				d.Warnings = append(d.Warnings, p.programs(names, since)+": end the upgrade, or take it back")
			}
		}
	}
	for _, l := range lines[:min(len(lines), maxLines)] {
		d.Warnings = append(d.Warnings, l.String())
	}
	if more := len(lines) - maxLines; more > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d more nodes are set up otherwise", more))
	}
	return d
}

// named returns the names of nodes: the names of their machines and, if two nodes run on one
// machine, also the beginning of their ids.
func named(all []Heard) []string {
	count := map[string]int{}
	for _, h := range all {
		count[h.Name]++
	}
	names := make([]string, len(all))
	for i, h := range all {
		if names[i] = h.Name; count[h.Name] > 1 {
			names[i] += "#" + h.ID[:min(len(h.ID), 6)]
		}
	}
	return names
}

// A part is a group of nodes with the same value. nodes are indexes.
type part struct {
	value string
	nodes []int
	since int64 // since when the first of them has it
}

// parts are at least two groups of nodes with different values, the largest group first.
type parts []part

// parted groups nodes by the value of one what. The catalog is compared only among nodes of the
// same version, because programs ship it.
func parted(all []Heard, what string) (list []parts) {
	of := map[string]map[string]*part{} // by version if that matters, then by value
	for i, h := range all {
		s, said := h.Runs[what]
		version := ""
		switch what {
		case Program:
			s, said = Setting{h.Version, h.Started}, true
		case Catalog:
			version = h.Version
		}
		if !said {
			continue
		}
		if of[version] == nil {
			of[version] = map[string]*part{}
		}
		p := of[version][s.Digest]
		if p == nil {
			p = &part{value: s.Digest, since: s.Since}
			of[version][s.Digest] = p
		}
		p.nodes, p.since = append(p.nodes, i), min(p.since, s.Since)
	}
	for _, values := range of {
		if len(values) < 2 {
			continue
		}
		var ps parts
		for _, p := range values {
			ps = append(ps, *p)
		}
		slices.SortFunc(ps, func(a, b part) int {
			return cmp.Or(cmp.Compare(len(b.nodes), len(a.nodes)), cmp.Compare(a.nodes[0], b.nodes[0]))
		})
		list = append(list, ps)
	}
	slices.SortFunc(list, func(a, b parts) int { return cmp.Compare(a[0].nodes[0], b[0].nodes[0]) })
	return list
}

// odd returns how many nodes are not in the largest group.
func (ps parts) odd() (n int) {
	for _, p := range ps[1:] {
		n += len(p.nodes)
	}
	return n
}

// since returns when all groups were there for the first time, by the nodes' clocks, but not later
// than now.
func (ps parts) since(now time.Time) time.Time {
	latest := ps[0].since
	for _, p := range ps {
		latest = max(latest, p.since)
	}
	if at := time.Unix(latest, 0).In(now.Location()); at.Before(now) {
		return at
	}
	return now
}

// A line says which nodes are set up differently.
type line struct {
	nodes string // the nodes' names
	than  int    // size of the largest group; zero if there is none
	whats []string
	since time.Time
}

// lines adds the lines about one setting, what. Each node that differs from the largest group gets a
// line. If no group is the largest, there is one line for all nodes.
func (ps parts) lines(lines []line, names []string, what string, since time.Time) []line {
	add := func(nodes string, than int) {
		at := slices.IndexFunc(lines, func(l line) bool { return l.nodes == nodes && l.than == than })
		if at < 0 {
			lines, at = append(lines, line{nodes: nodes, than: than}), len(lines)
		}
		lines[at].whats = append(lines[at].whats, what)
		if since.After(lines[at].since) {
			lines[at].since = since
		}
	}
	if most := len(ps[0].nodes); most > len(ps[1].nodes) {
		for _, p := range ps[1:] {
			for _, i := range p.nodes {
				add(names[i], most)
			}
		}
		return lines
	}
	var sides []string
	for _, p := range ps {
		sides = append(sides, listed(names, p.nodes))
	}
	add(strings.Join(sides, " and "), 0)
	return lines
}

func (l line) String() string {
	who := "node " + l.nodes + " is set up otherwise than " + fmt.Sprint(l.than) + " others"
	if l.than == 0 {
		who = "nodes " + l.nodes + " are set up differently"
	}
	return who + ": " + strings.Join(l.whats, ", ") + " (since " + clock(l.since) + "); roll it out to all or to none"
}

// programs returns which nodes run which program.
func (ps parts) programs(names []string, since time.Time) string {
	var list []string
	for _, p := range ps {
		list = append(list, p.value+" ("+listed(names, p.nodes)+")")
	}
	return "nodes run different programs since " + clock(since) + ", " + strings.Join(list, ", ")
}

// listed returns the names of some nodes.
func listed(names []string, nodes []int) string {
	var list []string
	for _, i := range nodes[:min(len(nodes), maxNamed)] {
		list = append(list, names[i])
	}
	if more := len(nodes) - maxNamed; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

func clock(at time.Time) string { return at.Format("2006-01-02 15:04") }
