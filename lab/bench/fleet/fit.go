package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
)

// measured is the part of docs/evidence/fleet-bench.json that is used here.
type measured struct {
	Commit  string    `json:"commit"`
	Began   time.Time `json:"began"`
	Cores   int       `json:"cores"`
	Load    []string  `json:"load"`
	Figures struct {
		Server   string  `json:"server"`
		Quick    bool    `json:"quick"`
		Ratios   []ratio `json:"ratios"`
		Sweep    []point `json:"sweep"`
		Prebuilt []point `json:"prebuilt"`
		Shards   []point `json:"shards"`
		Paced    []point `json:"paced"`
		Flush    struct {
			P50 float64 `json:"p50_us"`
		} `json:"flush"`
		Stored struct {
			Facts float64 `json:"facts_per_decision"`
			Bytes float64 `json:"bytes_per_fact"`
			Index float64 `json:"index_bytes_per_fact"`
		} `json:"stored"`
	} `json:"figures"`
}

// A ratio is a measured comparison with its goal.
type ratio struct {
	Name      string  `json:"name"`
	Inflight  int     `json:"inflight"`
	Sessions  int     `json:"sessions"`
	Rounds    int     `json:"rounds"`
	Ratio     float64 `json:"ratio"`
	Lower     float64 `json:"lower_quartile"`
	Upper     float64 `json:"upper_quartile"`
	Goal      float64 `json:"goal"`
	Met       bool    `json:"met"`
	PerSecond float64 `json:"per_second"`
}

// A point is what one decision took with that many databases and decisions in flight.
type point struct {
	Shards     int                `json:"shards"`
	Inflight   int                `json:"inflight"`
	PerSecond  float64            `json:"per_second"`
	P50        float64            `json:"p50_us"`
	P99        float64            `json:"p99_us"`
	Node       float64            `json:"node_cpu_us"`
	Primary    float64            `json:"primary_cpu_us"`
	Replica    float64            `json:"replica_cpu_us"`
	Commits    float64            `json:"commits"`
	Flushes    float64            `json:"flushes"`
	Statements map[string]float64 `json:"statements"`
	Log        float64            `json:"log_bytes"`
	Sent       float64            `json:"sent_bytes"`
	Received   float64            `json:"received_bytes"`
	Crossing   int64              `json:"crossing_statements"`
	Conns      int                `json:"connections"`
	CPUOfOne   *share             `json:"cpu_of_one_shard"`
	NodeOfOne  *share             `json:"node_cpu_of_one_shard"`
	DBOfOne    *share             `json:"server_cpu_of_one_shard"`
	FlushOfOne *share             `json:"flushes_of_one_shard"`
}

// A share is a figure relative to that with one database.
type share struct {
	Ratio float64 `json:"ratio"`
	Lower float64 `json:"lower_quartile"`
	Upper float64 `json:"upper_quartile"`
	Met   bool    `json:"met"`
}

func (p point) looks() float64 { return p.Statements["look up"] }

// readMeasured reads the evidence. It refuses evidence that is not of a whole run.
func readMeasured(file string) (*measured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := &measured{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	f := &m.Figures
	if f.Quick || len(f.Sweep) < 3 || len(f.Prebuilt) != len(f.Sweep) || len(f.Shards) < 3 || f.Flush.P50 <= 0 || f.Stored.Bytes <= 0 {
		return nil, fmt.Errorf("%s: it does not hold a whole run of «make bench-fleet»", file)
	}
	return m, nil
}

// fit computes the cost of each part of a decision. Measurements with prebuilt rows give the cost
// of writing, per decision and per group, because groups are larger if more is in flight. The rest
// of a whole decision's cost is that of deciding and looking up.
func fit(m *measured) costs {
	f := &m.Figures
	k := costs{Flush: f.Flush.P50}
	commits := func(p point) float64 { return p.Commits }
	k.NodeEach, k.NodeGroup = line(f.Prebuilt, commits, func(p point) float64 { return p.Node })
	k.PrimaryEach, k.PrimaryGroup = line(f.Prebuilt, commits, func(p point) float64 { return p.Primary })
	k.ReplicaEach, k.ReplicaGroup = line(f.Prebuilt, commits, func(p point) float64 { return p.Replica })
	// With the least in flight, each decision that looks up has a statement of its own.
	k.LookShare = slices.MinFunc(f.Sweep, func(a, b point) int { return a.Inflight - b.Inflight }).looks()
	k.Decide, k.NodeLook = line(f.Sweep, point.looks, func(p point) float64 { return p.Node - k.NodeEach - p.Commits*k.NodeGroup })
	each, group := line(f.Sweep, point.looks, func(p point) float64 { return p.Primary - k.PrimaryEach - p.Commits*k.PrimaryGroup })
	k.LookGroup = group
	if k.LookShare > 0 {
		k.LookEach = each / k.LookShare
	}
	return k
}

// line returns the straight line with the smallest relative errors. Its base and slope are never
// negative, because no cost is.
func line(points []point, x, y func(point) float64) (base, slope float64) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		if y(p) <= 0 {
			continue
		}
		w := 1 / (y(p) * y(p))
		n, sx, sy = n+w, sx+w*x(p), sy+w*y(p)
		sxx, sxy = sxx+w*x(p)*x(p), sxy+w*x(p)*y(p)
	}
	switch d := n*sxx - sx*sx; {
	case n == 0:
		return 0, 0
	case d > 0:
		slope = (n*sxy - sx*sy) / d
		base = (sy - slope*sx) / n
	}
	switch {
	case slope <= 0:
		return sy / n, 0
	case base < 0:
		return 0, sxy / sxx
	}
	return base, slope
}

// A check compares one measured point with the simulation.
type check struct {
	Shards    int     `json:"shards"`
	Inflight  int     `json:"inflight"`
	Measured  float64 `json:"measured_per_second"`
	Simulated float64 `json:"simulated_per_second"`
	Error     float64 `json:"error"` // simulated / measured - 1
	// Fitted marks the points from which the speed of the machine was computed.
	Fitted bool `json:"fitted,omitempty"`
}

// The settings of the program. connections is how many connections a node may have to one database.
const (
	writersOfANode = 4
	lookersOfANode = 2
	mostInAGroup   = 512
	connections    = writersOfANode + 1 + 2 + 8 // spare ones, and those for reading
)

// here returns the machine of the measurement, on which all parts share the cores.
func here(m *measured, k costs, speed float64, shards, inflight int) *fleet {
	return &fleet{
		costs: k, Nodes: 1, Shards: shards, NodeCores: m.Cores, ServerCores: m.Cores, Shared: true, Speed: speed,
		Writers: writersOfANode, Lookers: lookersOfANode, Most: mostInAGroup, Inflight: inflight, Seed: 1,
	}
}

// checks compares the simulation with the measured points. The speed of the machine is computed
// from one point, that with one database and 64 in flight; all other points are predicted.
func checks(m *measured, k costs) (list []check, speed float64) {
	for _, points := range [][]point{m.Figures.Shards, m.Figures.Sweep} {
		at := slices.IndexFunc(points, func(p point) bool { return p.Inflight == 64 })
		if at < 0 {
			continue
		}
		speed = speedOf(m, k, points[at])
		for i, p := range points {
			got := here(m, k, speed, p.Shards, p.Inflight).simulate(2, p.Shards).PerSecond
			list = append(list, check{
				Shards: p.Shards, Inflight: p.Inflight, Measured: p.PerSecond, Simulated: math.Round(got),
				Error: math.Round((got/p.PerSecond-1)*1000) / 1000, Fitted: i == at,
			})
		}
	}
	return list, speed
}

// speedOf returns the speed of the machine's cores at which the simulation gives the measured rate.
func speedOf(m *measured, k costs, p point) (speed float64) {
	low, high := 0.01, 4.0
	for range 18 {
		speed = math.Sqrt(low * high)
		if here(m, k, speed, p.Shards, p.Inflight).simulate(1, p.Shards).PerSecond < p.PerSecond {
			low = speed
		} else {
			high = speed
		}
	}
	return speed
}
