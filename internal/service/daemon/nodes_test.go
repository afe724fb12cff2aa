package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/fleet/nodes"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
)

// newNode runs a node over a database that it shares, with a policy and settings.
func newNode(t *testing.T, dsn, keys, policy string, change func(*Options)) *runner {
	t.Helper()
	dir := t.TempDir()
	file := config.DirPaths(dir).Policy
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	return startWith(t, dir, true, func(o *Options) {
		o.Service.Journal.Store, o.Service.Keys = dsn, keys
		o.Service.Tenants = map[string]config.Tenant{"acme": {}}
		o.NodesEvery = longest // tests say when it compares itself
		change(o)
	})
}

// compared has each node say what it runs by, and then compare itself with the others.
func compared(t *testing.T, all ...*runner) {
	t.Helper()
	for range 2 {
		for _, r := range all {
			if err := r.d.nodes.look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// differs checks that a node says exactly this of the nodes, in parts of its lines.
func differs(t *testing.T, r *runner, says ...string) {
	t.Helper()
	lines, _ := r.d.noted("")
	lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, "roll it out") })
	for _, part := range says {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, part) }) {
			t.Errorf("%q, want %q", lines, says)
		}
	}
	if len(lines) != len(says) {
		t.Errorf("%q, want %q", lines, says)
	}
}

// writtenDown checks how many nodes the database knows.
func writtenDown(t *testing.T, dsn string, n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	count := 0
	if err := c.QueryRow(t.Context(), "SELECT count(*)::int FROM floodmark.nodes").Scan(&count); err != nil || count != n {
		t.Fatalf("%d nodes are written down, want %d: %v", count, n, err)
	}
}

// Two nodes over one database: equal ones say nothing, wherever they lie; both say it
// when one has another policy, until it ends or has the same again.
func TestNodesSayWhereTheyDiffer(t *testing.T) {
	dsn, keys := newDatabase(t), sharedKeys(t)
	const one, two = "version: 1\nprofile: coding\n", "version: 1\nprofile: strict\n"
	same := func(*Options) {}
	a, b := newNode(t, dsn, keys, one, same), newNode(t, dsn, keys, one, same)
	compared(t, a, b)
	writtenDown(t, dsn, 2)
	for _, r := range []*runner{a, b} {
		if d := r.d.nodes.difference(); len(d.Warnings) > 0 || d.Note != "" || len(d.Counts) > 0 {
			t.Errorf("equal nodes: %+v", d)
		}
	}
	if err := os.WriteFile(b.paths.Policy, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.d.live.Reload(); got.Refused != nil {
		t.Fatal(got.Refused)
	}
	compared(t, a, b)
	differs(t, a, "are set up differently: policy (since ")
	differs(t, b, "are set up differently: policy (since ")
	if lines, _ := a.d.noted("acme"); len(lines) > 0 {
		t.Errorf("a tenant is told %q", lines)
	}
	if n := a.d.nodes.difference().Counts[nodes.Policy]; n != 1 {
		t.Errorf("the gauge says %d", n)
	}
	left := inNodes(t, dsn, "SELECT says FROM floodmark.nodes WHERE id = $1", b.d.nodes.id)
	// A third one is like one of them but for a tenant's quota.
	c := newNode(t, dsn, keys, one, func(o *Options) {
		o.Service.Tenants["acme"] = config.Tenant{Quota: config.Quota{Events: 7}}
	})
	compared(t, a, b, c)
	for _, r := range []*runner{a, b, c} {
		differs(t, r, "is set up otherwise than 2 others: policy (since ", "is set up otherwise than 2 others: tenants (since ")
	}
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	compared(t, a, c)
	differs(t, a, "are set up differently: tenants (since ")
	// One that was killed says nothing more, and is forgotten after some minutes.
	inNodes(t, dsn, "INSERT INTO floodmark.nodes (id, says) VALUES ('killed', $1) RETURNING says", left)
	compared(t, a, c)
	differs(t, a, "than 2 others: policy", "than 2 others: tenants")
	inNodes(t, dsn, "UPDATE floodmark.nodes SET at = at - $1::interval WHERE id = 'killed' RETURNING says", nodes.AliveFor.String())
	compared(t, a, c)
	differs(t, a, "are set up differently: tenants (since ")
	inNodes(t, dsn, "UPDATE floodmark.nodes SET at = at - interval '1 hour' WHERE id = 'killed' RETURNING says")
	compared(t, a, c)
	writtenDown(t, dsn, 2)
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	compared(t, a)
	differs(t, a)
}

// inNodes runs SQL that returns one value of bytes.
func inNodes(t *testing.T, dsn, sql string, args ...any) (value []byte) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// What nodes say of themselves holds nothing of their settings: no name, no address,
// no secret.
func TestNodesTellNothingOfTheirSettings(t *testing.T) {
	const marked = "marked-7f3a"
	r := startWith(t, t.TempDir(), true, func(o *Options) {
		o.Service.Tenants = map[string]config.Tenant{marked: {}}
		o.Service.Answers = []config.Answer{{Groups: []string{marked}}}
	})
	runs, err := r.d.runsBy()
	if err != nil || len(runs) != len(nodes.Whats())-1 {
		t.Fatalf("%v, %v", runs, err)
	}
	for what, digest := range runs {
		if !slices.Contains(nodes.Whats(), what) || len(digest) != 32 || strings.Contains(digest, marked) {
			t.Errorf("%s: %q", what, digest)
		}
	}
	before := runs[nodes.Tenants]
	if err := r.stop(); err != nil { // no other node looks at its keys then
		t.Fatal(err)
	}
	r.d.keys.Index[0]++
	if runs, err = r.d.runsBy(); err != nil || runs[nodes.Tenants] == before {
		t.Errorf("whoever has not the key can try what a digest is of: %v", err)
	}
	if r.d.nodes != nil || r.d.nodes.run(t.Context()) != nil || len(r.d.nodes.difference().Warnings) > 0 {
		t.Error("a monitor alone compares itself")
	}
}

// A comparison that fails is told of once, and again after it went well.
func TestAComparisonThatFailsIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		var told int
		o := &otherNodes{
			self: nodes.New("a", "1", time.Now()), book: noNodes{}, now: time.Now, every: time.Second,
			failed: func(error) { told++ },
			runs: func() (map[string]string, error) {
				err := errs[0]
				errs = errs[1:]
				return nil, err
			},
		}
		broken := errors.New("broken")
		errs = []error{nil, broken, broken, nil, broken, nil, nil}
		ctx, end := context.WithTimeout(t.Context(), 6500*time.Millisecond)
		defer end()
		if err := o.run(ctx); err != nil || told != 2 || len(errs) > 0 {
			t.Errorf("told %d times, want 2; %d looks left: %v", told, len(errs), err)
		}
	})
}

// noNodes is an empty book.
type noNodes struct{}

func (noNodes) Announce(context.Context, string, []byte) ([]fleetbooks.Node, error) {
	return nil, nil
}
func (noNodes) Withdraw(context.Context, string) error { return nil }
