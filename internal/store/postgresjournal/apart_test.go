package postgresjournal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// leave writes a session of a tenant that left a word under a key.
func leave(t testing.TB, j *Journal, tenant, id string, key floodmark.Digest, body []byte) {
	t.Helper()
	s := journal.Session{Tenant: tenant, ID: floodmark.SessionID(id)}
	entries, err := journal.Seal(s, journal.Link{}, time.Unix(1_700_000_000, 0), []floodmark.Fact{floodmark.SessionOpened{Agent: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	b := journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}
	b.Artifacts = []journal.Artifact{{Tenant: tenant, Key: key, Session: s.ID, Seq: 1, Body: body}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// noise is incompressible bytes.
func noise(n int) []byte {
	from := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = from.Read(b)
	return b
}

// A tenant with many large words under a key does not delay another or have it refused, and each
// finds its own.
func TestLargeWordsAreTheirTenantsAlone(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Timeout: busyTimeout})
	key := floodmark.DigestOf("k")
	const large = 12
	body := noise(journal.MaxArtifactBytes)
	for i := range large {
		leave(t, j, "large", fmt.Sprint("s", i), key, body)
	}
	leave(t, j, "small", "s", key, []byte("w"))
	ask := func(tenant string, want int, of []byte) {
		found, err := j.Artifacts(t.Context(), tenant, []floodmark.Digest{key})
		if err != nil || len(found) != want {
			t.Errorf("%s found %d words, want %d: %v", tenant, len(found), want, err)
		}
		for _, a := range found {
			if a.Tenant != tenant || !bytes.Equal(a.Body, of) {
				t.Errorf("%s found a word of %q with %d bytes", tenant, a.Tenant, len(a.Body))
			}
		}
	}
	// A shared statement never brings one tenant's large words to another.
	s := j.shards[0]
	both := []*asking{{tenant: "large", keys: []floodmark.Digest{key}}, {tenant: "small", keys: []floodmark.Digest{key}}}
	took, err := s.lookUp(busyTimeout, both, true)
	if err != nil || !took["large"].over || took["large"].bytes > large*wordBytes || took["small"].over || len(both[1].found) != 1 {
		t.Errorf("a shared statement brought %+v, %d words of the small one: %v", took, len(both[1].found), err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				ask("large", large, body)
			}
		})
		all.Go(func() {
			for range 20 {
				ask("small", 1, []byte("w"))
			}
		})
	}
	all.Wait()
	if !s.lookups.apart.has("large") || s.lookups.apart.has("small") {
		t.Error("not exactly the tenant with large words is asked for apart")
	}
}

// A tenant whose statement does not end keeps no other tenant from an answer: neither one in the
// same statement nor a later one.
func TestASlowTenantIsSlowAlone(t *testing.T) {
	t.Parallel() // most of it is waiting
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema, Timeout: DefaultTimeout})
	key := floodmark.DigestOf("k")
	for _, tenant := range []string{"slow", "quick"} {
		leave(t, j, tenant, "s", key, []byte(tenant))
	}
	admin := readSlowly(t, dsn, schema)
	ctx, leaves := context.WithCancel(t.Context())
	var slows sync.WaitGroup
	defer slows.Wait()
	defer leaves()
	waits := make(chan struct{}, 1000)
	asks := func(tenant string) error {
		found, err := j.Artifacts(&noticed{Context: ctx, waits: waits}, tenant, []floodmark.Digest{key})
		if err == nil && (len(found) != 1 || string(found[0].Body) != tenant) {
			err = fmt.Errorf("found %+v", found)
		}
		return err
	}
	// Both requests are queued before either is answered, so they share the next statement.
	held := lock(t, admin, schema+".artifacts")
	var first sync.WaitGroup
	for range lookers {
		first.Go(func() { _ = asks("other") })
		waitForAll(t, dsn, schema, 1)
		<-waits
	}
	waitForAll(t, dsn, schema, lookers)
	for range 3 * apartsOfOne {
		slows.Go(func() {
			if asks("slow") == nil {
				t.Error("the slow tenant was answered")
			}
		})
	}
	shared := make(chan error, 1)
	go func() { shared <- asks("quick") }()
	for range 3*apartsOfOne + 1 {
		<-waits // they are about to ask, all of them
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	if err := <-shared; err != nil {
		t.Errorf("who shared a statement with the slow tenant: %v", err)
	}
	for range 20 {
		if err := asks("quick"); err != nil {
			t.Errorf("who came later: %v", err)
		}
	}
}

// lock locks a table until the returned transaction ends.
func lock(t *testing.T, c *pgx.Conn, table string) pgx.Tx {
	t.Helper()
	held, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "LOCK TABLE "+table); err != nil {
		t.Fatal(err)
	}
	return held
}

// A noticed is a context that signals the first wait for its end.
type noticed struct {
	context.Context
	once  sync.Once
	waits chan<- struct{}
}

func (c *noticed) Done() <-chan struct{} {
	c.once.Do(func() { c.waits <- struct{}{} })
	return c.Context.Done()
}

// readSlowly makes reading words of tenant "slow" take 30 seconds: longer than any timeout, and
// short enough not to delay the end of the test.
func readSlowly(t *testing.T, dsn, schema string) *pgx.Conn {
	t.Helper()
	admin := postgrestest.Connect(t, dsn)
	for _, sql := range []string{
		"ALTER TABLE S.artifacts RENAME TO words",
		"CREATE FUNCTION S.read_slowly(tenant bytea, body bytea) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN IF tenant = 'slow' THEN PERFORM pg_sleep(30); END IF; RETURN body; END $$",
		"CREATE VIEW S.artifacts AS SELECT tenant, key, session, seq, S.read_slowly(tenant, body) AS body FROM S.words",
	} {
		if _, err := admin.Exec(t.Context(), strings.ReplaceAll(sql, "S.", schema+".")); err != nil {
			t.Fatal(err)
		}
	}
	return admin
}

// waitForAll waits until that many statements wait for the words.
func waitForAll(t *testing.T, dsn, schema string, n int) {
	t.Helper()
	c := postgrestest.Connect(t, dsn)
	until(t, c, "SELECT count(*) >= $1 FROM pg_locks WHERE NOT granted AND relation = '"+schema+".artifacts'::regclass", n)
}

// A tenant's own statement is bounded. Lookups that exceed it together are answered one by one; one
// that exceeds it alone is refused.
func TestWordsOfATenantAreBounded(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Timeout: busyTimeout})
	s := j.shards[0]
	var keys []floodmark.Digest
	for i := range 4 {
		keys = append(keys, floodmark.DigestOf(fmt.Sprint(i)))
		leave(t, j, "t", fmt.Sprint("s", i), keys[i], noise(2*maxSharedWord))
	}
	s.apartBytes = 2 * (2*maxSharedWord + wordBytes)
	var group []*asking
	for _, some := range [][]floodmark.Digest{keys[:2], keys[2:], keys[:3]} {
		group = append(group, &asking{tenant: "t", keys: some, until: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), done: make(chan struct{})})
	}
	if !s.lookups.apart.answer(group) {
		t.Error("that was not much")
	}
	for i, want := range []int{2, 2, 0} {
		a := group[i]
		<-a.done
		if len(a.found) != want || (want == 0) != errors.Is(a.err, journal.ErrTooLarge) {
			t.Errorf("%d keys: %d words, want %d: %v", len(a.keys), len(a.found), want, a.err)
		}
	}
}

// At the limits of a shared statement a tenant finds everything; beyond them it is looked up apart,
// and finds everything there.
func TestSharedWordsAreBounded(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Timeout: busyTimeout})
	s := j.shards[0]
	key := floodmark.DigestOf("k")
	leave(t, j, "at", "s", key, noise(maxSharedWord))
	leave(t, j, "beyond", "s", key, noise(maxSharedWord+1))
	for i := range minSharedWords + 1 {
		if i < minSharedWords {
			leave(t, j, "few", fmt.Sprint("s", i), key, []byte("w"))
		}
		leave(t, j, "many", fmt.Sprint("s", i), key, []byte("w"))
	}
	var group []*asking
	for _, tenant := range []string{"at", "beyond", "few", "many", "nobody"} {
		a := &asking{tenant: tenant, keys: []floodmark.Digest{key}, done: make(chan struct{})}
		if tenant == "nobody" {
			for i := range maxSharedWords/minSharedWords - 4 {
				a.keys = append(a.keys, floodmark.DigestOf(fmt.Sprint(i)))
			}
		}
		group = append(group, a)
	}
	took, err := s.lookUp(busyTimeout, group, true)
	if err != nil {
		t.Fatal(err)
	}
	for tenant, over := range map[string]bool{"at": false, "beyond": true, "few": false, "many": true, "nobody": false} {
		if took[tenant].over != over {
			t.Errorf("%s: over is %v", tenant, took[tenant].over)
		}
	}
	s.lookups.share(group)
	for i, want := range []int{1, 1, minSharedWords, minSharedWords + 1, 0} {
		a := group[i]
		<-a.done
		if a.err != nil || len(a.found) != want {
			t.Errorf("%s found %d words, want %d: %v", a.tenant, len(a.found), want, a.err)
		}
	}
}

// counted counts statements under way. Those of slow tenants end when released, and all but the
// small tenant exceed a shared statement.
type counted struct {
	may chan struct{}

	mu     sync.Mutex // guards what is below
	under  map[string]int
	shared int
}

func (c *counted) look(_ time.Duration, group []*asking, together bool) (map[string]portion, error) {
	tenant := group[0].tenant
	c.mu.Lock()
	if together {
		c.shared++
	}
	c.under[tenant]++
	c.mu.Unlock()
	if strings.HasPrefix(tenant, "slow") && !together {
		<-c.may
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under[tenant]--
	return map[string]portion{tenant: {over: together && tenant != "small"}}, nil
}

// A slow or large tenant is looked up apart for a while, by a limited number of statements, and
// others take turns with it.
func TestTenantsTakeTurnsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{may: make(chan struct{}), under: map[string]int{}}
		l := newLookups(c.look, time.Hour, DefaultReaders)
		var all sync.WaitGroup
		ask := func(tenant string) {
			all.Go(func() {
				if _, err := l.find(t.Context(), tenant, make([]floodmark.Digest, maxShared)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for range 30 {
			ask("slow a")
		}
		if c.under["slow a"] != apartsOfOne || c.shared != 1 {
			t.Errorf("%d statements of one tenant at once, want %d; it shared %d, want 1", c.under["slow a"], apartsOfOne, c.shared)
		}
		if _, err := l.find(t.Context(), "large", make([]floodmark.Digest, 1)); err != nil {
			t.Error(err)
		}
		ask("slow b")
		if c.under["slow b"] != 1 {
			t.Error("a tenant waits for another that is slow")
		}
		ask("slow b")
		if n := c.under["slow a"] + c.under["slow b"]; n != aparts {
			t.Errorf("%d statements apart at once, want %d", n, aparts)
		}
		if _, err := l.find(t.Context(), "small", make([]floodmark.Digest, 1)); err != nil {
			t.Error(err)
		}
		ctx, leaves := context.WithCancel(t.Context())
		leaves()
		if _, err := l.find(ctx, "slow b", make([]floodmark.Digest, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up: %v", err)
		}
		close(c.may)
		all.Wait()
		if !l.apart.has("slow a") {
			t.Error("it is forgotten at once")
		}
		time.Sleep(apartFor + time.Second)
		if l.apart.has("slow a") || l.apart.has("small") {
			t.Error("it is asked for apart for ever")
		}
		l.close()
	})
}

// If a shared statement fails, each tenant is retried apart in the remaining time. A single tenant
// is not: it would fail again. No request waits for ever.
func TestAfterAFailureEachIsTriedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		l := newLookups(func(within time.Duration, group []*asking, _ bool) (map[string]portion, error) {
			for _, a := range group {
				if a.tenant == "bad" {
					time.Sleep(within)
					return nil, broken
				}
			}
			return map[string]portion{}, nil
		}, 10*time.Second, DefaultReaders)
		group := func(tenants ...string) (list []*asking) {
			for _, tenant := range tenants {
				list = append(list, &asking{tenant: tenant, keys: make([]floodmark.Digest, 1), done: make(chan struct{})})
			}
			return list
		}
		began := time.Now()
		mixed := group("bad", "good", "bad", "fine")
		l.share(mixed)
		for i, want := range []error{broken, nil, broken, nil} {
			if <-mixed[i].done; !errors.Is(mixed[i].err, want) {
				t.Errorf("%s: %v", mixed[i].tenant, mixed[i].err)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("answered after %s", took)
		}
		if !l.apart.has("bad") || l.apart.has("good") {
			t.Error("not exactly the slow one is asked for apart")
		}
		began = time.Now()
		alone := group("bad", "bad")
		l.share(alone)
		if <-alone[0].done; !errors.Is(alone[0].err, broken) || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), alone[0].err)
		}
		// Lookups that wait too long for their turn are refused, also at the end.
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := l.find(t.Context(), "bad", make([]floodmark.Digest, maxAsked)); err == nil {
					t.Error("answered")
				}
			})
		}
		synctest.Wait()
		time.Sleep(11 * time.Second)
		all.Wait()
		l.close()
		last := group("good")[0]
		if l.apart.add(last); !errors.Is(last.err, journal.ErrClosed) {
			t.Errorf("asked after the end: %v", last.err)
		}
	})
}
