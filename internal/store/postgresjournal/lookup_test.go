package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// Lookups that arrive while all statements are under way share the next one.
func TestThoseWhoAskAtOnceShareAStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups atomic.Int64
		may := make(chan struct{})
		l := newLookups(func(_ time.Duration, group []*asking, _ bool) (map[string]portion, error) {
			groups.Add(1)
			<-may
			for _, a := range group {
				a.found = []journal.Artifact{{Tenant: a.tenant, Key: a.keys[0]}}
			}
			return nil, nil
		}, DefaultTimeout, DefaultReaders)
		const many = 100
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				key := floodmark.DigestOf(fmt.Sprint(i))
				found, err := l.find(t.Context(), fmt.Sprint("t", i%3), []floodmark.Digest{key})
				if err != nil || len(found) != 1 || found[0].Key != key || found[0].Tenant != fmt.Sprint("t", i%3) {
					t.Errorf("%d: %v, %v", i, found, err)
				}
			})
		}
		synctest.Wait() // all of them wait
		close(may)
		all.Wait()
		if n := groups.Load(); n > 2*lookers {
			t.Errorf("%d statements for %d who asked at once, want at most %d", n, many, 2*lookers)
		}
		l.close()
		if _, err := l.find(t.Context(), "", nil); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("asked after the end: %v", err)
		}
	})
}

// A second statement starts beside one that hangs, a third does not, and lookups that arrive during
// a quick one wait for it.
func TestAHangingStatementBlocksNoLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		may := make(chan struct{})
		var begun atomic.Int64
		l := newLookups(func(_ time.Duration, group []*asking, _ bool) (map[string]portion, error) {
			begun.Add(1)
			if group[0].tenant == "hangs" {
				<-may
			} else {
				time.Sleep(patience / 2)
			}
			return nil, nil
		}, DefaultTimeout, DefaultReaders)
		var all sync.WaitGroup
		ask := func(tenant string) {
			all.Go(func() {
				if _, err := l.find(t.Context(), tenant, make([]floodmark.Digest, 1)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		ask("quick")
		ask("quick")
		if n := begun.Load(); n != 1 {
			t.Errorf("%d statements are under way, want one", n)
		}
		all.Wait()
		ask("hangs")
		before := time.Now()
		if _, err := l.find(t.Context(), "quick", make([]floodmark.Digest, 1)); err != nil || time.Since(before) > 2*patience {
			t.Errorf("answered after %s beside one that hangs: %v", time.Since(before), err)
		}
		ask("hangs")
		ask("hangs")
		time.Sleep(10 * patience)
		if n := begun.Load(); n != 5 {
			t.Errorf("%d statements have begun, want the third that hangs to wait", n)
		}
		close(may)
		all.Wait()
		l.close()
	})
}

// No statement exceeds its limit of keys, and a cancelled lookup returns at once.
func TestAGroupOfAskersHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		may := make(chan struct{})
		l := newLookups(func(_ time.Duration, group []*asking, shared bool) (map[string]portion, error) {
			keys := 0
			for _, a := range group {
				keys += len(a.keys)
				if shared && len(a.keys) > maxShared {
					t.Errorf("one who asks for %d keys shares a statement, at most %d", len(a.keys), maxShared)
				}
			}
			if keys > maxAsked {
				t.Errorf("%d keys in a statement, at most %d", keys, maxAsked)
			}
			<-may
			return nil, nil
		}, DefaultTimeout, DefaultReaders)
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				if _, err := l.find(t.Context(), "", make([]floodmark.Digest, []int{maxShared, maxShared + 1, maxAsked/2 + 1, maxAsked}[n%4])); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.find(ctx, "", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up: %v", err)
		}
		close(may)
		all.Wait()
		l.close()
	})
}

// Tenants who share a statement see only their own words, at every lookup.
func TestTenantsWhoAskAtOnceSeeTheirOwn(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	key, none := floodmark.DigestOf("k"), floodmark.DigestOf("none")
	const tenants = 5
	for i := range tenants {
		s := journal.Session{Tenant: fmt.Sprint("t", i), ID: "s"}
		entries, err := journal.Seal(s, journal.Link{}, time.Unix(1_700_000_000, 0), []floodmark.Fact{floodmark.SessionOpened{Agent: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		b := journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}
		b.Artifacts = []journal.Artifact{{Tenant: s.Tenant, Key: key, Session: "s", Seq: 1, Body: []byte(s.Tenant)}}
		if err := j.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			tenant := fmt.Sprint("t", n%(tenants+1)) // of the last one there is nothing
			found, err := j.Artifacts(t.Context(), tenant, []floodmark.Digest{none, key, key})
			switch {
			case err != nil:
				t.Error(err)
			case n%(tenants+1) == tenants && len(found) > 0:
				t.Errorf("%s found %+v", tenant, found)
			case n%(tenants+1) < tenants && (len(found) != 1 || string(found[0].Body) != tenant || found[0].Tenant != tenant):
				t.Errorf("%s found %+v", tenant, found)
			}
		})
	}
	all.Wait()
}
