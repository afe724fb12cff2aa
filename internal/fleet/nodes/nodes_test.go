package nodes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/fleet/nodes"
)

var at = time.Date(2026, 3, 4, 13, 5, 0, 0, time.UTC)

// heard returns a node with some digests, in force since 13:05 unless the digest is "x".
func heard(name, version string, runs ...string) nodes.Heard {
	h := nodes.Heard{ID: name + "-id-of-its-own", Node: nodes.Node{Name: name, Version: version, Runs: map[string]nodes.Setting{}}}
	h.Started = at.Add(-48 * time.Hour).Unix()
	for what, digest := range pairs(runs) {
		since := at.Unix()
		if digest == "x" {
			since = at.Add(-48 * time.Hour).Unix()
		}
		h.Runs[what] = nodes.Setting{Digest: digest, Since: since}
	}
	return h
}

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

func TestNodesThatDifferAreNamed(t *testing.T) {
	late := heard("b", "1", "policy", "y")
	late.Ago = nodes.AliveFor + 1
	alive := late
	alive.Ago = nodes.AliveFor
	upgraded := heard("b", "2", "policy", "x", "catalog", "y")
	upgraded.Started = at.Unix()
	twins := []nodes.Heard{heard("a", "1", "policy", "x"), heard("a", "1", "policy", "y")}
	twins[1].ID = "other"
	const roll = "; roll it out to all or to none"
	for name, c := range map[string]struct {
		all      []nodes.Heard
		warnings []string
		note     string
		counts   map[string]int
	}{
		"nobody":     {},
		"one":        {all: []nodes.Heard{heard("a", "1", "policy", "x")}},
		"alike":      {all: []nodes.Heard{heard("a", "1", "policy", "x"), heard("b", "1", "policy", "x")}},
		"one died":   {all: []nodes.Heard{heard("a", "1", "policy", "x"), late}},
		"says less":  {all: []nodes.Heard{heard("a", "1", "policy", "x", "answers", "x"), heard("b", "1", "policy", "x")}},
		"an unknown": {all: []nodes.Heard{heard("a", "1", "moon", "x"), heard("b", "1", "moon", "y")}},
		"just alive": {
			all:      []nodes.Heard{heard("a", "1", "policy", "x"), alive},
			warnings: []string{"nodes a and b are set up differently: policy (since 2026-03-04 13:05)" + roll}, counts: map[string]int{"policy": 1},
		},
		"one of three": {
			all:      []nodes.Heard{heard("a", "1", "policy", "x", "answers", "x"), heard("b", "1", "policy", "y", "answers", "y"), heard("c", "1", "policy", "x", "answers", "x")},
			warnings: []string{"node b is set up otherwise than 2 others: policy, answers (since 2026-03-04 13:05)" + roll}, counts: map[string]int{"policy": 1, "answers": 1},
		},
		"two of four": {
			all:      []nodes.Heard{heard("a", "1", "policy", "x"), heard("b", "1", "policy", "x"), heard("c", "1", "policy", "y"), heard("d", "1", "policy", "y")},
			warnings: []string{"nodes a, b and c, d are set up differently: policy (since 2026-03-04 13:05)" + roll}, counts: map[string]int{"policy": 2},
		},
		"two on one machine": {
			all:      twins,
			warnings: []string{"nodes a#a-id-o and a#other are set up differently: policy (since 2026-03-04 13:05)" + roll}, counts: map[string]int{"policy": 1},
		},
		"an upgrade": {
			all:  []nodes.Heard{heard("a", "1", "policy", "x", "catalog", "x"), upgraded, heard("c", "1", "policy", "x", "catalog", "x")},
			note: "nodes run different programs since 2026-03-04 13:05, 1 (a, c), 2 (b): an upgrade is under way", counts: map[string]int{"program": 1},
		},
		"another build": {
			all:      []nodes.Heard{heard("a", "1", "catalog", "x"), heard("b", "1", "catalog", "x"), heard("c", "1", "catalog", "y")},
			warnings: []string{"node c is set up otherwise than 2 others: catalog (since 2026-03-04 13:05)" + roll}, counts: map[string]int{"catalog": 1},
		},
		"an upgrade that was left": {
			all:      []nodes.Heard{heard("a", "1"), heard("b", "2")},
			warnings: []string{"nodes run different programs since 2026-03-02 13:05, 1 (a), 2 (b): end the upgrade, or take it back"}, counts: map[string]int{"program": 1},
		},
	} {
		got := compared(t, name, c.all)
		if !slices.Equal(got.Warnings, c.warnings) || got.Note != c.note || !maps.Equal(got.Counts, c.counts) {
			t.Errorf("%s: %q, note %q, %v", name, got.Warnings, got.Note, got.Counts)
		}
	}
}

// compared compares nodes at 13:25, in any order.
func compared(t *testing.T, name string, all []nodes.Heard) nodes.Difference {
	t.Helper()
	before := slices.Clone(all)
	got := nodes.Compare(all, at.Add(20*time.Minute))
	if diff := cmp.Diff(before, all); diff != "" {
		t.Errorf("%s: it changed what it was given: %s", name, diff)
	}
	slices.Reverse(before)
	if diff := cmp.Diff(got, nodes.Compare(before, at.Add(20*time.Minute))); diff != "" {
		t.Errorf("%s: every node must say the same: %s", name, diff)
	}
	return got
}

// An upgrade is usual for an hour.
func TestAnUpgradeIsUsualForAWhile(t *testing.T) {
	b := heard("b", "2")
	b.Started = at.Unix()
	all := []nodes.Heard{heard("a", "1"), b}
	if d := nodes.Compare(all, at.Add(time.Hour-time.Second)); d.Note == "" || len(d.Warnings) != 0 {
		t.Errorf("within the hour: %+v", d)
	}
	if d := nodes.Compare(all, at.Add(time.Hour)); d.Note != "" || len(d.Warnings) != 1 {
		t.Errorf("after it: %+v", d)
	}
}

// A fleet of any size is described in few lines.
func TestLinesAreBounded(t *testing.T) {
	var all []nodes.Heard
	for i := range 60 {
		digest := "x"
		if i < 25 {
			digest = string(rune('A' + i))
		}
		all = append(all, heard("n"+string(rune('A'+i)), "1", "policy", digest, "answers", digest[:1]))
	}
	d := nodes.Compare(all, at)
	if n := len(d.Warnings); n != 9 || d.Warnings[8] != "17 more nodes are set up otherwise" || d.Counts["policy"] != 25 {
		t.Errorf("%d lines, the last %q, %v", n, d.Warnings[n-1], d.Counts)
	}
	for _, l := range d.Warnings {
		if len(l) > 400 {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
}

func TestWhatNodesSayIsRead(t *testing.T) {
	full := nodes.Node{Name: strings.Repeat("n", 100), Version: strings.Repeat("v", 64), Started: 1 << 40, Runs: map[string]nodes.Setting{}}
	for _, what := range nodes.Whats() {
		full.Runs[what] = nodes.Setting{Digest: strings.Repeat("d", 64), Since: 1 << 40}
	}
	data, err := full.Write()
	if err != nil {
		t.Fatal(err)
	}
	got, err := nodes.Read(data)
	if diff := cmp.Diff(full, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for what, change := range map[string]func(n *nodes.Node){
		"no name":       func(n *nodes.Node) { n.Name = "" },
		"a long name":   func(n *nodes.Node) { n.Name += "n" },
		"a line":        func(n *nodes.Node) { n.Name = "a\nb" },
		"words":         func(n *nodes.Node) { n.Name = "all is well" },
		"an escape":     func(n *nodes.Node) { n.Version = "\x1b[2J" },
		"a hidden sign": func(n *nodes.Node) { n.Version = "1\u202e2" },
		"long version":  func(n *nodes.Node) { n.Version += "v" },
		"a long digest": func(n *nodes.Node) { n.Runs = map[string]nodes.Setting{"policy": {Digest: strings.Repeat("d", 65)}} },
	} {
		n := full
		change(&n)
		if _, err := n.Write(); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	for _, text := range []string{"", "null", "[]", "{", `{"name":"a","runs":{"policy":7}}`, `{"name":"a"}` + strings.Repeat(" ", nodes.MaxBytes)} {
		if _, err := nodes.Read([]byte(text)); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

// A node on a machine with any name can publish it.
func TestAnyNameCanBeSaid(t *testing.T) {
	for _, name := range []string{"", "a b", "a\x1b[2J", "\xff", strings.Repeat("ü", 80), "node-7.firm.example"} {
		n := nodes.New(name, name, at)
		if _, err := n.Write(); err != nil {
			t.Errorf("%q became %q: %v", name, n.Name, err)
		}
	}
	if n := nodes.New("node-7.firm.example", "1.2.3+dirty", at); n.Name != "node-7.firm.example" || n.Version != "1.2.3+dirty" || n.Started != at.Unix() {
		t.Errorf("%+v", n)
	}
}

// FuzzRead: whatever was written into the table, each line of the result stays one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name":"a","version":"1","started":7,"runs":{"policy":{"digest":"x","since":-9}}}`))
	f.Add([]byte(`{"name":"b","version":"","runs":{"program":{"digest":"y","since":99999999999999}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := nodes.Read(data)
		if err != nil {
			return
		}
		d := nodes.Compare([]nodes.Heard{{ID: "1", Node: n}, heard("a", "1", "policy", "x")}, at)
		for _, l := range append(d.Warnings, d.Note) {
			if strings.ContainsAny(l, "\n\r\x1b") || len(l) > 4096 {
				t.Errorf("a line %q", l)
			}
		}
	})
}
