package main

import (
	"testing"
	"time"
)

func TestStatOfAProcess(t *testing.T) {
	const line = "42 (postgres: a) b) S 7 42 42 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 1 0 12345 1 2"
	if _, _, _, ok := parseStat("42 (postgres"); ok {
		t.Error("half a line was read")
	}
	parent, own, ended, ok := parseStat("42 (postgres) S 7 42 42 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 1 0 12345 1 2")
	if !ok || parent != 7 || own != 2*time.Second || ended != 500*time.Millisecond {
		t.Errorf("%d, %s, %s, %v", parent, own, ended, ok)
	}
	if parent, _, _, ok := parseStat(line); !ok || parent != 7 {
		t.Errorf("a name with a bracket: %d, %v", parent, ok)
	}
}

func TestUsageIsAddedAndTakenAway(t *testing.T) {
	a := usage{events: 5, node: 3, primary: 2, replica: 1, flushes: 7, log: 9, sent: 4, received: 6, calls: map[string]int64{"x": 3}}
	b := usage{events: 2, node: 1, primary: 1, replica: 1, flushes: 3, log: 4, sent: 1, received: 2, calls: map[string]int64{"x": 1, "y": 2}}
	if d := a.minus(b); d.events != 3 || d.node != 2 || d.flushes != 4 || d.calls["x"] != 2 || d.calls["y"] != -2 {
		t.Errorf("%+v", d)
	}
	if a.minus(b); a.calls["x"] != 3 || len(a.calls) != 1 {
		t.Errorf("%+v was changed", a)
	}
	if s := (usage{}).plus(a, 1).plus(b, 1); s.events != 7 || s.log != 13 || s.calls["x"] != 4 || s.calls["y"] != 2 {
		t.Errorf("%+v", s)
	}
}

func TestStatementsAreToldApart(t *testing.T) {
	for query, want := range map[string]string{
		"WITH ok AS MATERIALIZED (…) INSERT INTO facts (tenant) SELECT": callAppend,
		"INSERT INTO snapshots AS old (tenant)":                         callSnapshot,
		"SELECT a.tenant FROM artifacts a WHERE":                        callLookUp,
		"PREPARE TRANSACTION 'floodmark:x'":                             callCrossing,
		"COMMIT PREPARED 'floodmark:x'":                                 callCrossing,
		"SELECT 1":                                                      callOther,
	} {
		if got := kindOf(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// Several databases may use a tenth more for an event than one database, by the median over the
// rounds.
func TestSeveralDatabasesAreHeldAgainstOne(t *testing.T) {
	used := func(node ...time.Duration) *lane {
		l := &lane{}
		for _, n := range node {
			l.used = append(l.used, usage{events: 10, node: n, flushes: int64(n)})
		}
		return l
	}
	var s sharded
	s.compare(used(110, 108, 500), used(100, 100, 100))
	if !s.CPUOfOne.Met || s.CPUOfOne.Ratio != 1.1 || !s.FlushOfOne.Met || s.CPUOfOne.Upper < 2 {
		t.Errorf("%+v, %+v", s.CPUOfOne, s.FlushOfOne)
	}
	s.compare(used(120, 111, 112), used(100, 100, 100))
	if s.CPUOfOne.Met {
		t.Errorf("%+v", s.CPUOfOne)
	}
	s.compare(used(), used())
	if s.CPUOfOne.Met {
		t.Error("nothing was measured, and the goal met")
	}
}
