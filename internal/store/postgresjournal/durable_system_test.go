package postgresjournal

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark/journal"
)

func TestSettingsOfTheServerAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Schema: "kept", Timeout: 5 * time.Second})
	one := record(t, session("s"), journal.Link{}, 1, "one")
	appendOK(t, j, one)
	for _, name := range []string{"fsync", "full_page_writes"} {
		s.set(name, "off")
		wantNotDurable(t, s.dsn, "kept", name+" is off")
		s.set(name, "on")
	}
	// A connection that is already open notices too, some time later.
	s.set("fsync", "off")
	j.shards[0].CheckAgain(t.Context())
	wantErr(t, j.Append(t.Context(), batch(record(t, session("s"), one.Last(), 1, "two"))), journal.ErrNotDurable)
	s.set("fsync", "on")
	appendOK(t, j, record(t, session("s"), one.Last(), 1, "two"))

	s.restartAsStandby()
	wantNotDurable(t, s.dsn, "kept", "takes writes")
}
