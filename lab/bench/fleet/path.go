package main

import (
	"math"
	"slices"
)

// costs are the measured costs of one decision, in microseconds of one core.
type costs struct {
	// The node's costs: deciding, writing (per decision and per group), and a statement that looks
	// up what sessions recorded about files.
	Decide    float64 `json:"node_decide_us"`
	NodeEach  float64 `json:"node_write_us"`
	NodeGroup float64 `json:"node_group_us"`
	NodeLook  float64 `json:"node_look_group_us"`
	// The primary's costs: writing (per decision and per group) and looking up (per decision and
	// per statement for several).
	PrimaryEach  float64 `json:"primary_write_us"`
	PrimaryGroup float64 `json:"primary_group_us"`
	LookEach     float64 `json:"primary_look_us"`
	LookGroup    float64 `json:"primary_look_group_us"`
	// LookShare is the share of decisions that look something up.
	LookShare float64 `json:"look_share"`
	// The replica's costs.
	ReplicaEach  float64 `json:"replica_write_us"`
	ReplicaGroup float64 `json:"replica_group_us"`
	// Flush is how long the disk takes to flush.
	Flush float64 `json:"flush_us"`
}

// A fleet is a fleet to simulate. All its nodes write to all its shards. Only a few shards are
// simulated, with their share of the nodes' work; the others behave the same.
type fleet struct {
	costs  costs
	Nodes  int
	Shards int
	// NodeCores are the cores of one node. ServerCores are those of a primary, and of a replica.
	// With Shared, all parts run on one machine with that many cores, as in the measurement.
	NodeCores, ServerCores int
	Shared                 bool
	Speed                  float64 // of a core, relative to that of the measurement
	// Network is the time of one way over the network, in microseconds: half a round trip.
	Network float64
	Writers int // connections of a node for writing to one shard
	Lookers int // concurrent look-up statements of a node in one shard
	Most    int // decisions in one group
	// Rate is the number of decisions a second in the whole fleet, if they arrive at random. With
	// Inflight instead, that many clients each wait for their answer before they send the next.
	Rate     float64
	Inflight int
	Seed     uint64
}

// A decision is a decision that is being made.
type decision struct {
	came float64
	cell *cell
	node int
	asks int // the databases that have not answered yet
}

// A cell is one shard, with what all nodes do for it.
type cell struct {
	primary, replica *station
	log, copied      *disk
	nodes            []*gatherer // what each node writes
	looks            []*gatherer // what each node looks up
}

// An outcome is the result of a simulation.
type outcome struct {
	PerSecond   float64 `json:"per_second"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	Commits     float64 `json:"commits"`  // per decision
	Looks       float64 `json:"look_ups"` // statements per decision
	Flushes     float64 `json:"flushes"`
	NodeLoad    float64 `json:"node_load"`
	PrimaryLoad float64 `json:"primary_load"`
	ReplicaLoad float64 `json:"replica_load"`
	DiskLoad    float64 `json:"disk_load"`
}

// A run is a simulation in progress.
type run struct {
	*fleet
	clock *clock
	nodes []*station
	cells []*cell
	times []float64
	from  float64 // nothing before this time is counted
	done  int
}

// simulate simulates a fleet for that many seconds, the first tenth of which is a warm-up. cells is
// how many of the shards are simulated. The nodes' work for the other shards is left out, together
// with its share of the nodes' cores.
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
	// The simulated shards have their share of a node's cores. If it is not a whole number, the
	// cores are fewer and slower.
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

// arrive simulates a call that reaches some node, for a session in some shard, and is judged there.
// Records about files may be in any database, so all databases are asked.
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

// look simulates one statement that asks for several decisions. It includes the cost of the
// statements from the shards that are not simulated.
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

// write simulates the writing of one group: the node's part, the primary's part and its flush, the
// replica's part and its flush, and the way back.
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
	all := float64(r.done) / (1 - r.from/end) // groups were counted from the beginning, including the warm-up
	o.Commits, o.Looks, o.Flushes = float64(groups)/all, float64(looks)/all, float64(flushes)/all
	o.P50, o.P99 = math.Round(at(r.times, 0.5)), math.Round(at(r.times, 0.99))
	return o
}

// at returns a quantile of a sorted list.
func at(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
