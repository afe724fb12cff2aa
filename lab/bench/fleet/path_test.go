package main

import "testing"

// plain returns a fleet with round numbers.
func plain() *fleet {
	return &fleet{
		costs: costs{Decide: 100, NodeEach: 10, NodeGroup: 50, NodeLook: 5, LookEach: 8, LookGroup: 12, LookShare: 1, PrimaryEach: 30, PrimaryGroup: 100, ReplicaEach: 10, ReplicaGroup: 40, Flush: 200},
		Nodes: 1, Shards: 1, NodeCores: 4, ServerCores: 4, Speed: 1, Network: 50, Writers: 4, Lookers: 2, Most: 512, Seed: 1,
	}
}

// A decision that is alone takes the sum of its parts, because it never waits.
func TestALoneDecisionTakesTheSumOfItsParts(t *testing.T) {
	f := plain()
	f.Inflight = 1
	const sum = 100 + 5 + 50 + (12 + 8) + 50 + (50 + 10) + 50 + (100 + 30) + 200 + 50 + (40 + 10) + 200 + 2*50
	o := f.simulate(1, 1)
	near(t, "time", o.P50, sum, 0.001)
	near(t, "rate", o.PerSecond, 1e6/sum, 0.01)
	near(t, "commits", o.Commits, 1, 0.01)
	near(t, "flushes", o.Flushes, 1, 0.01)
}

// All decisions are answered as long as no station is full, and the loads follow from the costs.
func TestLoadFollowsFromCosts(t *testing.T) {
	f := plain()
	f.Nodes, f.Shards, f.Rate = 3, 2, 8_000
	o := f.simulate(5, 2)
	near(t, "rate", o.PerSecond, f.Rate, 0.03)
	k := &f.costs
	node := f.Rate / 3 * (k.Decide + k.NodeEach + o.Commits*k.NodeGroup + o.Looks*k.NodeLook) / 1e6 / 4
	near(t, "load of nodes", o.NodeLoad, node, 0.05)
	// Each of the two databases is read for all decisions and written for half of them.
	primary := (f.Rate/2*(k.PrimaryEach+o.Commits*k.PrimaryGroup) + f.Rate*(k.LookEach+o.Looks/2*k.LookGroup)) / 1e6 / 4
	near(t, "load of primaries", o.PrimaryLoad, primary, 0.05)
	// Simulating only one of the two shards, with its share of the nodes, gives the same figures.
	half := f.simulate(5, 1)
	near(t, "rate of all by one shard", half.PerSecond, o.PerSecond, 0.03)
	near(t, "commits by one shard", half.Commits, o.Commits, 0.1)
	near(t, "load of the primary", half.PrimaryLoad, o.PrimaryLoad, 0.15)
}

// With more decisions in flight, groups become larger until the processors are the limit.
func TestProcessorsLimitAClosedLoop(t *testing.T) {
	f := plain()
	f.Shared, f.NodeCores, f.Inflight = true, 2, 256
	o := f.simulate(3, 1)
	k := &f.costs
	each := k.Decide + k.NodeEach + k.LookEach + k.PrimaryEach + k.ReplicaEach +
		o.Commits*(k.NodeGroup+k.PrimaryGroup+k.ReplicaGroup) + o.Looks*(k.NodeLook+k.LookGroup)
	near(t, "rate", o.PerSecond, 2e6/each, 0.03)
	if o.Commits > 0.25 {
		t.Errorf("%.3f commits for a decision at 256 in flight, want few", o.Commits)
	}
}

func TestASeedGivesOneHistory(t *testing.T) {
	f := plain()
	f.Rate = 5_000
	if a, b := f.simulate(1, 1), f.simulate(1, 1); a != b {
		t.Errorf("%+v and then %+v", a, b)
	}
	other := *f
	other.Seed = 2
	if f.simulate(1, 1) == other.simulate(1, 1) {
		t.Error("another seed gave the same history")
	}
}
