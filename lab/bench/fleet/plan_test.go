package main

import (
	"math"
	"testing"
)

// made returns a measurement with known costs.
func made(k costs) *measured {
	m := &measured{Cores: 2}
	f := &m.Figures
	f.Flush.P50 = k.Flush
	f.Stored.Facts, f.Stored.Bytes, f.Stored.Index = 2, 500, 100
	for n, commits := range map[int]float64{1: 1, 4: 0.5, 16: 0.2, 64: 0.05, 256: 0.01} {
		p := point{
			Shards: 1, Inflight: n, Commits: commits, PerSecond: 1000, Log: 2000, Sent: 1500,
			Node: k.NodeEach + commits*k.NodeGroup, Primary: k.PrimaryEach + commits*k.PrimaryGroup, Replica: k.ReplicaEach + commits*k.ReplicaGroup,
		}
		f.Prebuilt = append(f.Prebuilt, p)
		looks := k.LookShare * commits
		p.Statements = map[string]float64{"look up": looks}
		p.Node += k.Decide + looks*k.NodeLook
		p.Primary += k.LookShare*k.LookEach + looks*k.LookGroup
		f.Sweep = append(f.Sweep, p)
	}
	return m
}

func TestCostsAreFoundAgain(t *testing.T) {
	want := costs{
		Decide: 90, NodeEach: 12, NodeGroup: 70, NodeLook: 30, PrimaryEach: 35, PrimaryGroup: 140,
		LookEach: 4, LookGroup: 40, LookShare: 0.5, ReplicaEach: 9, ReplicaGroup: 50, Flush: 200,
	}
	got := fit(made(want))
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"decide", got.Decide, want.Decide},
		{"node, each", got.NodeEach, want.NodeEach},
		{"node, group", got.NodeGroup, want.NodeGroup},
		{"node, look", got.NodeLook, want.NodeLook},
		{"primary, each", got.PrimaryEach, want.PrimaryEach},
		{"primary, group", got.PrimaryGroup, want.PrimaryGroup},
		{"look, each", got.LookEach, want.LookEach},
		{"look, group", got.LookGroup, want.LookGroup},
		{"look, share", got.LookShare, want.LookShare},
		{"replica, each", got.ReplicaEach, want.ReplicaEach},
		{"replica, group", got.ReplicaGroup, want.ReplicaGroup},
		{"flush", got.Flush, want.Flush},
	} {
		near(t, v.name, v.got, v.want, 0.01)
	}
}

// No cost is negative, even if noise of the machine put the points so.
func TestNoCostIsBelowZero(t *testing.T) {
	points := []point{{Commits: 1, Node: 10}, {Commits: 0.5, Node: 12}, {Commits: 0.1, Node: 15}}
	x, y := func(p point) float64 { return p.Commits }, func(p point) float64 { return p.Node }
	if base, slope := line(points, x, y); base <= 0 || slope != 0 {
		t.Errorf("%g, %g", base, slope)
	}
	points = []point{{Commits: 1, Node: 10}, {Commits: 0.5, Node: 4}, {Commits: 0.1, Node: 0.1}}
	if base, slope := line(points, x, y); base != 0 || slope <= 0 {
		t.Errorf("%g, %g", base, slope)
	}
	if base, slope := line(nil, x, y); base != 0 || slope != 0 {
		t.Errorf("%g, %g", base, slope)
	}
}

func TestPlanTakesWhatTheRateNeeds(t *testing.T) {
	c := constantsOf(made(costs{
		Decide: 100, NodeEach: 10, NodeGroup: 50, PrimaryEach: 40, PrimaryGroup: 100, LookEach: 2, LookShare: 0.5,
		ReplicaEach: 10, ReplicaGroup: 40, Flush: 200,
	}))
	h := example()
	small, large := c.plan(h, 10), c.plan(h, 300_000)
	if small.Nodes != leastNodes || small.Shards != 1 || !small.Fits {
		t.Errorf("%+v", small)
	}
	// 300,000 times 40 µs are 12 seconds of processors in each second.
	if !large.Fits || large.Shards < 2 || large.PrimaryLoad > h.Most || large.NodeLost > 1.1*h.Most {
		t.Errorf("%+v", large)
	}
	near(t, "stored", large.StoredTB, 300_000*1000*86_400/1e12, 0.001)
	near(t, "connections", float64(large.Connections), float64(large.Nodes*15), 0.001)
	if one := c.decade(h, 300_000, large.Nodes, 1); one.Fits {
		t.Errorf("one shard takes all of it: %+v", one)
	}
}

func TestTheNearestLimitIsNamed(t *testing.T) {
	c := constants{StoredBytes: 1000, IndexBytes: 100}
	h := example()
	h.ServerDisk = 0.001
	c.costs, c.LogBytes, c.SentBytes = plain().costs, 2000, 1000
	d := c.decade(h, 1_000, 3, 1)
	if d.First != "disk, for the days that are kept" || d.Room >= 1 {
		t.Errorf("%s at %g", d.First, d.Room)
	}
	for _, r := range d.rooms {
		if r.times < d.Room || math.IsNaN(r.times) {
			t.Errorf("%s is nearer: %g", r.name, r.times)
		}
	}
}

func TestCostByHand(t *testing.T) {
	c := constants{StoredBytes: 1000, SentBytes: 1500, LogBytes: 2500}
	h := hardware{CoreHour: 0.036, GBMonth: 0.1, GBNetwork: 0.01, RetentionDays: 30}
	// 100 cores at 1,000 a second; 2 GB for a month; 4 GB over the network.
	near(t, "cost", c.cost(h, decade{Cores: 100, Rate: 1000}), 100*0.036/3600*1000+0.2+0.04, 1e-9)
}
