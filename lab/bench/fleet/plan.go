package main

import (
	"math"
	"time"
)

// hardware is what a fleet is built from, and what it costs. The values are examples: insert your
// own.
type hardware struct {
	NodeCores      int     `json:"node_cores"`
	ServerCores    int     `json:"server_cores"`
	ServerMemory   float64 `json:"server_memory_gb"`
	ServerDisk     float64 `json:"server_disk_tb"`
	DiskMBs        float64 `json:"server_disk_mb_per_second"`
	NICGbs         float64 `json:"nic_gbit_per_second"`
	NetworkUS      float64 `json:"network_one_way_us"`
	MaxConnections int     `json:"max_connections"`
	RetentionDays  float64 `json:"retention_days"`
	// Most is how busy any part may be on a usual day, with one node lost.
	Most float64 `json:"most_load"`

	CoreHour  float64 `json:"price_core_hour"`
	GBMonth   float64 `json:"price_gb_month"`
	GBNetwork float64 `json:"price_gb_network"`
}

func example() hardware {
	return hardware{
		NodeCores: 8, ServerCores: 16, ServerMemory: 128, ServerDisk: 8, DiskMBs: 500, NICGbs: 10, NetworkUS: 100,
		MaxConnections: 500, RetentionDays: 30, Most: 0.6,
		CoreHour: 0.04, GBMonth: 0.10, GBNetwork: 0.01,
	}
}

// The limits of PostgreSQL and of the journal.
const (
	maxDatabases = 64          // databases of one fleet
	freezeAfter  = 200_000_000 // transactions after which every table is vacuumed
	leastNodes   = 2
)

// A constants has the bytes and the processor time of a decision, measured with many in flight.
type constants struct {
	costs
	LogBytes    float64 `json:"log_bytes"`
	SentBytes   float64 `json:"sent_bytes"`
	StoredBytes float64 `json:"stored_bytes"`
	IndexBytes  float64 `json:"index_bytes"`
	// NodeCPU and ServerCPU are the total time of a node and of a primary with 64 in flight.
	NodeCPU   float64 `json:"node_cpu_us"`
	ServerCPU float64 `json:"primary_cpu_us"`
}

func constantsOf(m *measured) constants {
	c := constants{costs: fit(m)}
	for _, p := range m.Figures.Sweep {
		if p.Inflight == 64 {
			c.LogBytes, c.SentBytes, c.NodeCPU, c.ServerCPU = p.Log, p.Sent, p.Node, p.Primary
		}
	}
	c.StoredBytes = m.Figures.Stored.Facts * m.Figures.Stored.Bytes
	c.IndexBytes = m.Figures.Stored.Facts * m.Figures.Stored.Index
	for _, v := range []*float64{
		&c.Decide, &c.NodeEach, &c.NodeGroup, &c.NodeLook, &c.PrimaryEach, &c.PrimaryGroup, &c.LookEach, &c.LookGroup, &c.LookShare,
		&c.ReplicaEach, &c.ReplicaGroup, &c.NodeCPU, &c.ServerCPU,
	} {
		*v = digits(*v)
	}
	return c
}

// A decade is a fleet for one rate: its parts, its performance, and its first bottleneck.
type decade struct {
	Rate   float64 `json:"decisions_per_second"`
	Nodes  int     `json:"nodes"`
	Shards int     `json:"shards"`
	// NodeCores and ServerCores are the cores of one machine.
	NodeCores   int `json:"cores_of_a_node"`
	ServerCores int `json:"cores_of_a_server"`
	// Fits says that the fleet is possible: no part is busier than allowed.
	Fits bool `json:"fits"`
	outcome

	Connections int     `json:"connections_of_a_primary"`
	LogMBs      float64 `json:"log_mb_per_second_of_a_shard"`
	ShardGbs    float64 `json:"network_gbit_of_a_primary"`
	AllGbs      float64 `json:"network_gbit_of_all"`
	StoredTB    float64 `json:"stored_tb_per_day"`   // one copy, all shards
	DiskTB      float64 `json:"disk_tb_of_a_server"` // for the retention time
	FreezeHours float64 `json:"hours_between_freezes"`
	Cores       int     `json:"cores"`
	Cost        float64 `json:"cost_per_million"`
	// Backlog is how many decisions wait after a primary was away for five seconds. CatchUp is how
	// many seconds it takes to process them.
	Backlog float64 `json:"backlog_of_a_failover"`
	CatchUp float64 `json:"seconds_to_catch_up"`
	// NodeLost is how busy the other nodes are if one is lost.
	NodeLost float64 `json:"node_load_with_one_lost"`
	// First names the first bottleneck if the load grows. Room is the factor by which the load can
	// grow until then.
	First string  `json:"breaks_first"`
	Room  float64 `json:"breaks_at_times"`
	rooms []room
}

// A room is the factor by which the load can grow until a limit is reached.
type room struct {
	name  string
	times float64
}

// away is how long a primary is lost, as measured in the drills.
const away = 5 * time.Second

// plan finds the smallest fleet for a rate. It tries two small nodes and one small server with its
// replica, then larger machines, then more of them.
func (c constants) plan(h hardware, rate float64) decade {
	for _, small := range []int{2, 4, 8} {
		of := h
		of.NodeCores, of.ServerCores = min(small, h.NodeCores), min(small, h.ServerCores)
		if need := rate * c.PrimaryEach / 1e6 / float64(of.ServerCores); need > h.Most {
			continue
		}
		if d := c.decade(of, rate, leastNodes, 1); d.Fits && d.NodeLost <= h.Most {
			return d
		}
	}
	need := rate * (c.Decide + c.NodeEach + c.NodeGroup/8) / 1e6 / (float64(h.NodeCores) * h.Most)
	nodes := max(leastNodes, int(math.Ceil(need))+1)
	var d decade
	for shards := 1; shards <= maxDatabases; shards = more(shards) {
		floor := rate / float64(shards) * c.PrimaryEach / 1e6 / float64(h.ServerCores)
		if floor > h.Most && more(shards) <= maxDatabases {
			continue // one server cannot be enough
		}
		// More shards mean more look-ups, so there may be too few nodes.
		for range 6 {
			if d = c.decade(h, rate, nodes, shards); d.NodeLost <= h.Most*1.1 {
				break
			}
			nodes += max(1, nodes/8)
		}
		if d.Fits {
			break
		}
	}
	return d
}

// more returns the next number of shards to try.
func more(n int) int { return max(n+1, n*5/4) }

// decade simulates a fleet and computes what it needs.
func (c constants) decade(h hardware, rate float64, nodes, shards int) decade {
	f := &fleet{
		costs: c.costs, Nodes: nodes, Shards: shards, NodeCores: h.NodeCores, ServerCores: h.ServerCores, Speed: 1,
		Network: h.NetworkUS, Writers: writersOfANode, Lookers: lookersOfANode, Most: mostInAGroup, Rate: rate, Seed: 1,
	}
	const enough = 30_000 // decisions
	cells := min(shards, 2)
	o := f.simulate(math.Max(0.1, enough/(rate*float64(cells)/float64(shards))), cells)
	d := decade{Rate: rate, Nodes: nodes, Shards: shards, NodeCores: h.NodeCores, ServerCores: h.ServerCores, outcome: o}
	each := rate / float64(shards)
	d.Connections = nodes * connections
	d.LogMBs = each * c.LogBytes / 1e6
	d.ShardGbs = (each*(c.SentBytes+c.LogBytes) + rate*c.LookShare*64) * 8 / 1e9
	d.AllGbs = d.ShardGbs * float64(shards)
	d.StoredTB = rate * c.StoredBytes * 86_400 / 1e12
	d.DiskTB = d.StoredTB / float64(shards) * h.RetentionDays
	d.FreezeHours = freezeAfter / (each * o.Commits) / 3600
	d.NodeLost = o.NodeLoad * float64(nodes) / float64(nodes-1)
	d.Cores = nodes*h.NodeCores + 2*shards*h.ServerCores
	d.Cost = c.cost(h, d)
	busiest := max(o.PrimaryLoad, o.ReplicaLoad)
	d.Backlog = rate * away.Seconds()
	d.CatchUp = away.Seconds() * busiest / (1 - busiest)
	d.rooms = c.rooms(h, d)
	d.First, d.Room = d.rooms[0].name, d.rooms[0].times
	for _, r := range d.rooms {
		if r.times < d.Room {
			d.First, d.Room = r.name, r.times
		}
	}
	d.Fits = o.PerSecond > 0.95*rate && busiest <= h.Most && d.LogMBs <= h.Most*h.DiskMBs && d.ShardGbs <= h.Most*h.NICGbs &&
		d.Connections <= h.MaxConnections
	return d
}

// rooms returns the room for each known limit.
func (c constants) rooms(h hardware, d decade) []room {
	indexGB := d.StoredTB * 1e3 * c.IndexBytes / c.StoredBytes / float64(d.Shards) * h.RetentionDays
	return []room{
		{"processors of nodes", 1 / d.NodeLoad},
		{"processors of a primary", 1 / d.PrimaryLoad},
		{"processors of a replica", 1 / d.ReplicaLoad},
		{"bytes to a primary's disk", h.DiskMBs / d.LogMBs},
		{"network of a primary", h.NICGbs / d.ShardGbs},
		{"connections of a primary", float64(h.MaxConnections) / float64(d.Connections)},
		{"disk, for the days that are kept", h.ServerDisk / d.DiskTB},
		{"a day's index in memory", h.ServerMemory / 2 / (indexGB / h.RetentionDays)},
		{"a day between freezes", d.FreezeHours / 24},
		{"databases of a fleet", float64(maxDatabases) / float64(d.Shards)},
	}
}

// cost returns the cost of a million decisions: cores by the hour, two copies on disk for the
// retention time, and network traffic.
func (c constants) cost(h hardware, d decade) float64 {
	cores := float64(d.Cores) * h.CoreHour / 3600 / d.Rate * 1e6
	disk := 2 * c.StoredBytes * 1e6 / 1e9 * h.GBMonth * h.RetentionDays / 30
	network := (c.SentBytes + c.LogBytes) * 1e6 / 1e9 * h.GBNetwork
	return cores + disk + network
}
