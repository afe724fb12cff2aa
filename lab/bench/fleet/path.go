package main

import (
	"math"
	"slices"
)

// Costs are what one decision takes, as they were measured: microseconds of one
// core.
type costs struct {
	// Of the node: deciding, its share in writing each and each group, and asking a
	// database what sessions left behind.
	Decide    float64 `json:"node_decide_us"`
	NodeEach  float64 `json:"node_write_us"`
	NodeGroup float64 `json:"node_group_us"`
	NodeLook  float64 `json:"node_look_group_us"`
	// Of the primary: each that is written, each group; each that is looked up, each
	// statement that looks up for several.
	PrimaryEach  float64 `json:"primary_write_us"`
	PrimaryGroup float64 `json:"primary_group_us"`
	LookEach     float64 `json:"primary_look_us"`
	LookGroup    float64 `json:"primary_look_group_us"`
	// LookShare is how many of all decisions look something up.
	LookShare float64 `json:"look_share"`
	// Of the replica.
	ReplicaEach  float64 `json:"replica_write_us"`
	ReplicaGroup float64 `json:"replica_group_us"`
	// Flush is how long the disk takes.
	Flush float64 `json:"flush_us"`
}

// A fleet is what is simulated: nodes that all write to all shards. One shard is
// looked at, with its share of the work; the others are like it.
type fleet struct {
	costs  costs
	Nodes  int
	Shards int
	// Cores of one node, of a primary and of its replica. If shared, all of them are
	// on one machine with that many cores, as where it was measured.
	NodeCores, ServerCores int
	Shared                 bool
	Speed                  float64 // of a core, beside the one that was measured on
	// Network is the way there, in microseconds: half a round trip.
	Network float64
	Writers int // connections of a node that write to one shard
	Lookers int // statements of a node that look up in one shard at once
	Most    int // decisions in one group
	// Rate is decisions a second in all the fleet, if they come at random; with
	// Inflight each waits for its answer before the next comes instead.
	Rate     float64
	Inflight int
	Seed     uint64
}

// A decision is one on its way.
type decision struct {
	came float64
	cell *cell
	node int
	asks int // databases that have not answered yet
}

// A cell is one shard and what all nodes do for it.
type cell struct {
	primary, replica *station
	log, copied      *disk
	nodes            []*gatherer // of each node: what it writes
	looks            []*gatherer // and what it looks up
}

// An outcome is what a simulation saw.
type outcome struct {
	PerSecond   float64 `json:"per_second"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	Commits     float64 `json:"commits"`  // for a decision
	Looks       float64 `json:"look_ups"` // statements, for a decision
	Flushes     float64 `json:"flushes"`
	NodeLoad    float64 `json:"node_load"`
	PrimaryLoad float64 `json:"primary_load"`
	ReplicaLoad float64 `json:"replica_load"`
	DiskLoad    float64 `json:"disk_load"`
}

// A run is a simulation under way.
type run struct {
	*fleet
	clock *clock
	nodes []*station
	cells []*cell
	times []float64
	from  float64 // before that nothing is counted
	done  int
}

// simulate runs a fleet for so long, after a tenth of that in which it warms up.
// Cells says how many of the shards are played; the nodes' work for the others is
// left out with their share of the nodes' cores.
func (f *fleet) simulate(seconds float64, cells int) outcome {
	r := f.build(cells)
	end := seconds * 1e6
	r.from = end / 10
	if f.Inflight > 0 {
		for i := range f.Inflight {
			r.arrive(i, true)
		}
	} else {
		rate := f.Rate / 1e6 * float64(cells) / float64(f.Shards)
		var next func()
		n := 0
		next = func() {
			r.arrive(n, false)
			n++
			r.clock.after(r.clock.random.ExpFloat64()/rate, next)
		}
		r.clock.after(r.clock.random.ExpFloat64()/rate, next)
	}
	r.clock.run(end)
	return r.outcome(end)
}

func (f *fleet) build(cells int) *run {
	r := &run{fleet: f, clock: newClock(f.Seed)}
	// Of a node's cores those shards have their share: fewer cores, and slower ones
	// where that is not a whole number.
	share := float64(f.NodeCores) * float64(cells) / float64(f.Shards)
	whole := max(1, int(share))
	shared := newStation(r.clock, f.NodeCores, f.Speed)
	for range f.Nodes {
		if f.Shared {
			r.nodes = append(r.nodes, shared)
		} else {
			r.nodes = append(r.nodes, newStation(r.clock, whole, f.Speed*share/float64(whole)))
		}
	}
	for range cells {
		c := &cell{
			primary: newStation(r.clock, f.ServerCores, f.Speed), replica: newStation(r.clock, f.ServerCores, f.Speed),
			log: &disk{clock: r.clock, takes: f.costs.Flush}, copied: &disk{clock: r.clock, takes: f.costs.Flush},
		}
		if f.Shared {
			c.primary, c.replica = shared, shared
		}
		for n := range f.Nodes {
			c.nodes = append(c.nodes, &gatherer{writers: f.Writers, most: f.Most, write: func(g []*decision, done func()) { r.write(c, n, g, done) }})
			c.looks = append(c.looks, &gatherer{writers: f.Lookers, most: f.Most, write: func(g []*decision, done func()) { r.look(c, n, g, done) }})
		}
		r.cells = append(r.cells, c)
	}
	return r
}

// arrive is a call that comes to some node, for a session in some shard. It is
// judged there. What sessions left behind may lie in any database, so all are
// asked.
func (r *run) arrive(n int, again bool) {
	d := &decision{came: r.clock.now, node: r.clock.random.IntN(len(r.nodes)), cell: r.cells[n%len(r.cells)]}
	if again {
		d.cell = r.cells[r.clock.random.IntN(len(r.cells))]
	}
	r.nodes[d.node].do(r.costs.Decide, func() {
		if r.clock.random.Float64() >= r.costs.LookShare {
			d.cell.nodes[d.node].add(d)
			return
		}
		d.asks = len(r.cells)
		for _, c := range r.cells {
			c.looks[d.node].add(d)
		}
	})
}

// look is one statement that asks for several decisions. Of the shards that are
// not played the decisions ask here as well, and so do theirs of the nodes.
func (r *run) look(c *cell, node int, group []*decision, done func()) {
	others := float64(r.Shards) / float64(len(r.cells))
	k := &r.costs
	r.nodes[node].do(k.NodeLook, func() {
		r.clock.after(r.Network, func() {
			c.primary.do(k.LookGroup+float64(len(group))*others*k.LookEach, func() {
				r.clock.after(r.Network, func() {
					done()
					for _, d := range group {
						if d.asks--; d.asks == 0 {
							d.cell.nodes[node].add(d)
						}
					}
				})
			})
		})
	})
}

// write is one group: the node's part, the primary's, the flush, the replica's
// with its flush, and the way back.
func (r *run) write(c *cell, node int, group []*decision, done func()) {
	n := float64(len(group))
	k := &r.costs
	answered := func() {
		done()
		for _, d := range group {
			r.answer(d)
		}
	}
	r.nodes[node].do(k.NodeGroup+n*k.NodeEach, func() {
		r.clock.after(r.Network, func() {
			c.primary.do(k.PrimaryGroup+n*k.PrimaryEach, func() {
				c.log.flush(func() {
					r.clock.after(r.Network, func() {
						c.replica.do(k.ReplicaGroup+n*k.ReplicaEach, func() {
							c.copied.flush(func() { r.clock.after(2*r.Network, answered) })
						})
					})
				})
			})
		})
	})
}

func (r *run) answer(d *decision) {
	if r.clock.now >= r.from {
		r.done++
		r.times = append(r.times, r.clock.now-d.came)
	}
	if r.Inflight > 0 {
		r.arrive(0, true)
	}
}

func (r *run) outcome(end float64) outcome {
	var o outcome
	groups, looks, flushes := 0, 0, 0
	for _, c := range r.cells {
		for _, g := range c.nodes {
			groups += g.groups
		}
		for _, g := range c.looks {
			looks += g.groups
		}
		flushes += c.log.flushes
		o.PrimaryLoad = max(o.PrimaryLoad, c.primary.load())
		o.ReplicaLoad = max(o.ReplicaLoad, c.replica.load())
		o.DiskLoad = max(o.DiskLoad, float64(c.log.flushes)*c.log.takes/end)
	}
	for _, n := range r.nodes {
		o.NodeLoad = max(o.NodeLoad, n.load())
	}
	slices.Sort(r.times)
	o.PerSecond = float64(r.done) / (end - r.from) * 1e6 * float64(r.Shards) / float64(len(r.cells))
	all := float64(r.done) / (1 - r.from/end) // groups were counted from the beginning
	o.Commits, o.Looks, o.Flushes = float64(groups)/all, float64(looks)/all, float64(flushes)/all
	o.P50, o.P99 = math.Round(at(r.times, 0.5)), math.Round(at(r.times, 0.99))
	return o
}

// at is a quantile of a sorted list.
func at(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
