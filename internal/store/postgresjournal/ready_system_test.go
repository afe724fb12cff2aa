package postgresjournal

import (
	"context"
	"errors"
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
		eventually(t, func() bool {
			err := ready()
			if err != nil {
				t.Logf("%s: %v", what, err)
			}
			return err == nil
		})
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

// A cancelled readiness check does not make a slow server distrusted, and its connections stay.
// Only a check that takes the whole statement timeout counts as a server that hangs.
func TestALookThatIsSlowDistrustsNobody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Timeout: busyTimeout})
	shard := j.shards[0]
	if err := j.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn := shard.GivenUp()
	s.set("synchronous_standby_names", "nobody")
	for range 3 {
		eventually(t, func() bool { // not every process of the server knows it at once
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			return errors.Is(j.Ready(ctx), context.DeadlineExceeded)
		})
	}
	if now := shard.GivenUp(); now != turn {
		t.Error("the server is distrusted")
	}
	s.set("synchronous_standby_names", "")
	if err := j.Ready(t.Context()); err != nil {
		t.Errorf("the look that was under way: %v", err)
	}
	if err := j.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that hangs for a whole statement timeout is distrusted even without writes: a node that
// is not ready gets none.
func TestAServerThatHangsIsDistrustedByLooks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Timeout: 3 * time.Second})
	s.set("synchronous_standby_names", "nobody")
	turn := j.shards[0].GivenUp()
	eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		return j.Ready(ctx) != nil && j.shards[0].GivenUp() > turn
	})
	s.set("synchronous_standby_names", "") // what is cleaned up is committed, too
}
