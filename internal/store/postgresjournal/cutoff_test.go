package postgresjournal

import (
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// Too many words of one tenant do not cut off those of another in the same statement: a missed word
// is an unseen source.
func TestWhatOneTenantHasTooMuchIsNotMissingAtAnother(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Timeout: busyTimeout})
	const each = maxSharedWords / (maxShared + 2) // under one key of such a statement
	var keys []floodmark.Digest
	for i := range maxShared {
		keys = append(keys, floodmark.DigestOf(fmt.Sprint(i)))
	}
	for i := range each + 1 {
		leaveAll(t, j, "much", fmt.Sprint("s", i), keys)
	}
	for _, tenant := range []string{"b", "c"} {
		leave(t, j, tenant, "s", keys[0], []byte("w"))
	}
	group := []*asking{{tenant: "much", keys: keys}, {tenant: "b", keys: keys[:1]}, {tenant: "c", keys: keys[:1]}}
	for _, a := range group {
		a.done = make(chan struct{})
	}
	j.shards[0].lookups.share(group)
	for i, want := range []int{maxShared * (each + 1), 1, 1} {
		a := group[i]
		<-a.done
		if a.err != nil || len(a.found) != want {
			t.Errorf("%s found %d words, want %d: %v", a.tenant, len(a.found), want, a.err)
		}
	}
}

// leaveAll writes a session of a tenant that left a word under each key.
func leaveAll(t testing.TB, j *Journal, tenant, id string, keys []floodmark.Digest) {
	t.Helper()
	s := journal.Session{Tenant: tenant, ID: floodmark.SessionID(id)}
	entries, err := journal.Seal(s, journal.Link{}, time.Unix(1_700_000_000, 0), []floodmark.Fact{floodmark.SessionOpened{Agent: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	b := journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}
	for _, key := range keys {
		b.Artifacts = append(b.Artifacts, journal.Artifact{Tenant: tenant, Key: key, Session: s.ID, Seq: 1, Body: []byte("w")})
	}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}
