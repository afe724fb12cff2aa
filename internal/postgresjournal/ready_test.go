package postgresjournal

import (
	"context"
	"testing"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// A journal is ready while its server makes what is appended durable, which is
// more than answering.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{})
	ready := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		return j.Ready(ctx)
	}
	again := func(what string) {
		t.Helper()
		var err error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if err = ready(); err == nil {
				return
			}
		}
		t.Fatalf("%s: %v", what, err)
	}
	again("at the beginning")
	s.set("synchronous_standby_names", "nobody")
	if ready() == nil {
		t.Error("ready without the replica that it waits for")
	}
	s.set("synchronous_standby_names", "")
	again("without a replica to wait for")
	s.script(t.Context(), "restart")
	again("after a restart")
	j.Close()
	wantErr(t, j.Ready(t.Context()), journal.ErrClosed)
}
