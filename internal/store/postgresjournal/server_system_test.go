package postgresjournal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

// A server is a PostgreSQL of the test's own, which it may ill-treat.
type server struct {
	t   testing.TB
	dir string
	dsn string
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := newPlace(t)
	s.dsn = s.script(t.Context(), "start")
	return s
}

// newStandby starts a server that follows another.
func newStandby(t testing.TB, of *server) *server {
	t.Helper()
	s := newPlace(t)
	s.dsn = s.script(t.Context(), "standby", of.dir)
	return s
}

func newPlace(t testing.TB) *server {
	t.Helper()
	postgrestest.DSN(t)
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	//nolint:usetesting // the server's user must get there, and a socket's name is short
	parent, err := os.MkdirTemp("", "fm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: filepath.Join(parent, "pg")}
	t.Cleanup(func() {
		s.script(context.Background(), "stop")
		os.RemoveAll(parent)
	})
	return s
}

// script runs .ci/postgres and returns what it prints.
func (s *server) script(ctx context.Context, command string, args ...string) string {
	s.t.Helper()
	c := exec.CommandContext(ctx, "../../../.ci/postgres", append([]string{command, s.dir}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		s.t.Errorf(".ci/postgres %s: %v", command, err)
	}
	return strings.TrimSpace(string(out))
}

// set changes a setting of the running server, and waits until it holds.
func (s *server) set(name, value string) {
	s.t.Helper()
	c := postgrestest.Connect(s.t, s.dsn)
	defer c.Close(context.Background())
	for _, sql := range []string{"ALTER SYSTEM SET " + name + " = '" + value + "'", "SELECT pg_reload_conf()"} {
		if _, err := c.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			s.t.Fatal(err)
		}
	}
	eventually(s.t, func() bool {
		return postgrestest.Query[string](s.t, c, "SELECT current_setting($1)", name) == value
	})
	if name == "synchronous_standby_names" && value != "*" {
		eventually(s.t, func() bool { return s.waits() == (value != "") })
	}
}

// waits reports whether a commit waits for a replica. One process of the server says
// so for all of them, and learns of a setting by itself, perhaps later than others.
func (s *server) waits() bool {
	s.t.Helper()
	look, c := postgrestest.Connect(s.t, s.dsn), postgrestest.Connect(s.t, s.dsn)
	defer look.Close(context.Background())
	defer c.Close(context.Background())
	pid, done := postgrestest.Query[int](s.t, c, "SELECT pg_backend_pid()"), make(chan error, 1)
	go func() {
		_, err := c.Exec(context.Background(), "SELECT pg_logical_emit_message(true, 'test', '')", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	for waited := false; ; time.Sleep(time.Millisecond) {
		select {
		case err := <-done:
			if err != nil {
				s.t.Error(err)
			}
			return waited
		default:
		}
		if postgrestest.Query[bool](s.t, look, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep')", pid) {
			waited = true
			postgrestest.Query[bool](s.t, look, "SELECT pg_cancel_backend($1)", pid) // its commit stands
		}
	}
}

// restartAsStandby makes the server a standby without a primary.
func (s *server) restartAsStandby() {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "data", "standby.signal"), nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.script(s.t.Context(), "restart")
}

// eventually returns when something is so that no server tells of.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for !ok() {
		time.Sleep(10 * time.Millisecond)
	}
}
