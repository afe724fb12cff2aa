package postgresjournal

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/store/fleetbooks"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

func TestKeysOfNodesAgree(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	a, b := open(t, g.writer, Options{Schema: g.schema}), open(t, g.writer, Options{Schema: g.schema})
	one := fleetbooks.Print{Name: "index.key", Print: [32]byte{1}}
	own := fleetbooks.Print{Name: "tenant acme", ID: "k1", Print: [32]byte{2}}
	for _, j := range []*Journal{a, b, a} {
		if others, err := j.Agree(t.Context(), []fleetbooks.Print{one, own}); err != nil || len(others) > 0 {
			t.Fatalf("%v, %v", others, err)
		}
	}
	other := fleetbooks.Print{Name: own.Name, ID: "k2", Print: [32]byte{3}}
	for range 2 { // the warning is not suppressed the second time
		others, err := b.Agree(t.Context(), []fleetbooks.Print{one, other})
		if diff := cmp.Diff([]fleetbooks.Print{own}, others); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
	}
	later := fleetbooks.Print{Name: "tenant acme key b", ID: "k2", Print: [32]byte{4}}
	earlier := fleetbooks.Print{Name: "tenant acme key c", ID: "k3", Print: [32]byte{5}}
	for _, p := range []fleetbooks.Print{earlier, later} {
		if others, err := a.Agree(t.Context(), []fleetbooks.Print{p}); err != nil || len(others) > 0 {
			t.Fatalf("%v, %v", others, err)
		}
	}
	rows, err := b.Recorded(t.Context(), "tenant ")
	if diff := cmp.Diff([]fleetbooks.Print{own, earlier, later}, rows); err != nil || diff != "" {
		t.Errorf("%v, not as they were written down: %s", err, diff)
	}
	if rows, err := b.Recorded(t.Context(), "tenant %"); err != nil || len(rows) > 0 {
		t.Errorf("%v, %v", rows, err)
	}
	c := g.as(t, g.writer)
	for _, sql := range []string{"UPDATE prints SET id = ''", "DELETE FROM prints", "TRUNCATE prints"} {
		if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := g.as(t, g.owner).Exec(t.Context(), "UPDATE prints SET id = ''"); !postgres.IsDenied(err) {
		t.Errorf("the owner changed one: %v", err)
	}
}

// Of nodes with different keys that start at once on a new database one is first.
func TestFirstNodeSaysWhichKeys(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	var agree atomic.Int32
	var nodes sync.WaitGroup
	for i := range 8 {
		nodes.Go(func() {
			others, err := j.Agree(t.Context(), []fleetbooks.Print{{Name: "index.key", Print: [32]byte{byte(i)}}})
			if err != nil {
				t.Error(err)
			}
			if len(others) == 0 {
				agree.Add(1)
			}
		})
	}
	nodes.Wait()
	if n := agree.Load(); n != 1 {
		t.Errorf("%d nodes agree with what is written down, want 1", n)
	}
}
