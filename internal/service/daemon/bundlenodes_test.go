package daemon

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// newDatabase makes a database of the test's own.
func newDatabase(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv("FLOODMARK_POSTGRES_DSN")
	if dsn == "" {
		t.Skip("POSTGRESQL NOT TESTED: set FLOODMARK_POSTGRES_DSN to what «.ci/postgres start DIR» prints")
	}
	name := "bundles_" + strings.ToLower(rand.Text()[:12])
	run := func(sql string) {
		c, err := pgx.Connect(t.Context(), dsn)
		if err == nil {
			_, err = c.Exec(t.Context(), sql)
			err = errors.Join(err, c.Close(t.Context()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE DATABASE " + name)
	return dsn + " dbname=" + name
}

// sharedKeys is a folder of keys as nodes of a fleet have it mounted.
func sharedKeys(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	secret, _, err := journal.NewKey(rand.Reader, "floodmark/journal")
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "index.key"), []byte(strings.Repeat("k", 32)), 0o600), os.WriteFile(filepath.Join(dir, "journal.key"), []byte(secret), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const manySessions = 2000

// Three nodes over one database: a version that is given to 10 % is given to the
// same tenth by all of them, then to all, then taken back. They find out by themselves.
func TestARolloutIsTheSameAtEveryNode(t *testing.T) {
	t.Parallel()
	dsn, keys := newDatabase(t), sharedKeys(t)
	var nodes []*bundled
	for range 3 {
		f := newFleet(t, func(o *Options) {
			o.Service.Tenants = map[string]config.Tenant{"acme": {Bundles: believing()}}
			o.Service.Journal.Store, o.Service.Keys = dsn, keys
		})
		n := &bundled{fleet: f}
		n.author = n.by(n.token("acme", "ann", httpapi.MayView|httpapi.MayPolicy)).Owner()
		nodes = append(nodes, n)
	}
	first, second := hashOf(t, firstRules), hashOf(t, secondRules)
	nodes[0].publish(1, firstRules)
	nodes[1].roll(1, bundle.Everybody)
	nodes[2].publish(2, secondRules)
	seen := func(serial uint64) {
		t.Helper()
		for _, n := range nodes {
			n.until(t, fmt.Sprintf("rollout %d is seen", serial), func() bool { return n.d.signed.Status("acme").Rollout.Serial >= serial })
		}
	}
	for _, step := range []struct {
		name   string
		do     func()
		serial uint64
		least  int
		most   int
	}{
		{"10 %", func() { nodes[0].roll(2, 1000) }, 2, 135, 265}, // five standard deviations around 200
		{"all", func() { nodes[1].roll(2, bundle.Everybody) }, 3, manySessions, manySessions},
		{"back", func() {
			if _, err := nodes[2].author.RollBackBundle(t.Context(), &wire.RollBackBundleRequest{}); err != nil {
				t.Fatal(err)
			}
		}, 4, 0, 0},
	} {
		step.do()
		seen(step.serial)
		if n := judgedBy(t, nodes, first, second); n < step.least || n > step.most {
			t.Errorf("%s: %d of %d sessions have the second version", step.name, n, manySessions)
		} else {
			t.Logf("%s: %d of %d sessions have the second version, at every node", step.name, n, manySessions)
		}
	}
}

// judgedBy has every session judged at one of the nodes, and counts those that
// have the second version. All nodes must agree, and the facts must say so.
func judgedBy(t *testing.T, nodes []*bundled, first, second floodmark.Digest) int {
	t.Helper()
	var mu sync.Mutex
	count := 0
	var work sync.WaitGroup
	places := make(chan struct{}, 16)
	for i := range manySessions {
		places <- struct{}{}
		work.Go(func() {
			defer func() { <-places }()
			s := journal.Session{Tenant: "acme", ID: floodmark.SessionID(fmt.Sprint("session-", i))}
			at := nodes[i%len(nodes)].d.monitor
			if _, err := at.Handle(t.Context(), s.Tenant, hook.Event{Agent: "openclaw", Session: s.ID, Point: hook.SessionStart}); err != nil {
				t.Errorf("%s: %v", s.ID, err)
				return
			}
			view, err := at.View(t.Context(), s)
			if err != nil || view.State.Policy != first && view.State.Policy != second {
				t.Errorf("%s is under %s, %v", s.ID, view.State.Policy.Short(), err)
				return
			}
			for _, n := range nodes {
				if got := n.d.rulesOf(s, s.ID).Policy.Hash(); got != view.State.Policy {
					t.Errorf("%s: the nodes disagree", s.ID)
				}
			}
			if view.State.Policy == second {
				mu.Lock()
				defer mu.Unlock()
				count++
			}
		})
	}
	work.Wait()
	return count
}
