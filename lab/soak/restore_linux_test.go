package soak

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
)

// A database is a PostgreSQL server that the test starts.
type database struct {
	t        *testing.T
	dir, dsn string
}

// newDatabase prepares a folder for a server, and stops the server when the test ends.
func newDatabase(t *testing.T, parent, name string) *database {
	t.Helper()
	d := &database{t: t, dir: filepath.Join(parent, name)}
	t.Cleanup(func() { d.script("stop") })
	return d
}

// script runs .ci/postgres and returns what it prints.
func (d *database) script(command string, args ...string) string {
	d.t.Helper()
	c := exec.CommandContext(context.Background(), "../../.ci/postgres", append([]string{command, d.dir}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		d.t.Fatalf(".ci/postgres %s: %v", command, err)
	}
	return strings.TrimSpace(string(out))
}

// as runs SQL as the superuser.
func (d *database) as(sql string) {
	d.t.Helper()
	c, err := pgx.Connect(d.t.Context(), d.dsn)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(d.t.Context(), sql); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

// url returns the address of the database as it is given to a monitor.
func (d *database) url() string {
	return "postgres://postgres@/postgres?connect_timeout=60&host=" + d.dir
}

// A backup is made while the monitor works, and the log is archived. A database restored from both
// must have every chain, with the heads that were signed. If the copy was tampered with, or if the
// end of the log is missing, «journal verify» must say so.
func TestRestore(t *testing.T) {
	long(t)
	if os.Getenv("FLOODMARK_POSTGRES_DSN") == "" {
		t.Skip("set FLOODMARK_POSTGRES_DSN (any value) where PostgreSQL is installed: the drill starts servers of its own")
	}
	parent, dir := folder(t), folder(t)
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	old := newDatabase(t, parent, "old")
	old.dsn = old.script("start")
	logs, copied := filepath.Join(parent, "log"), filepath.Join(parent, "copy")
	old.script("archive", logs)

	r := serve(t, dir, "", "--journal", old.url())
	converse(t, r, "before")
	old.script("backup", copied)
	converse(t, r, "after")
	told := exported(t, dir)
	if err := r.stop(); err != nil { // a monitor signs the heads when it stops
		t.Fatal(err)
	}
	early := names(t, logs)
	old.archived(logs)
	old.script("kill")

	t.Run("whole", func(t *testing.T) {
		d := restored(t, parent, "whole", copied, logs)
		out, now, code := verified(t, dir, d)
		if code != 0 {
			t.Errorf("exit %d:\n%s", code, out)
		}
		if len(told) < 80 || !maps.Equal(told, now) {
			t.Errorf("%d entries were told, %d are there now, and they are not the same", len(told), len(now))
		}
	})
	t.Run("tampered", func(t *testing.T) {
		d := restored(t, parent, "bad", copied, logs)
		d.as(`SET session_replication_role = replica; UPDATE floodmark.facts SET body = overlay(body placing '\x20' from 2) WHERE seq = 3 AND id = (SELECT max(id) FROM floodmark.facts WHERE seq = 3)`)
		out, _, code := verified(t, dir, d)
		if code == 0 || !strings.Contains(out, "after-19") {
			t.Errorf("it was not noticed, exit %d:\n%s", code, out)
		}
	})
	t.Run("the end is missing", func(t *testing.T) {
		short := filepath.Join(parent, "short")
		keepOnly(t, logs, short, early)
		d := restored(t, parent, "lost", copied, short)
		out, _, code := verified(t, dir, d)
		if code == 0 || !strings.Contains(out, "session after-19 is gone") {
			t.Errorf("it was not noticed, exit %d:\n%s", code, out)
		}
	})
}

// archived waits until everything written so far is in the folder of the archived log.
func (d *database) archived(logs string) {
	d.t.Helper()
	c, err := pgx.Connect(d.t.Context(), d.dsn)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	var piece string
	if err := c.QueryRow(d.t.Context(), "SELECT pg_walfile_name(pg_switch_wal())").Scan(&piece); err != nil {
		d.t.Fatal(err)
	}
	for end := patience(d.t); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if slices.Contains(names(d.t, logs), piece) {
			return
		}
	}
	d.t.Fatalf("%s did not come to the archive", piece)
}

// names returns the names of the files in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// keepOnly makes a folder with copies of some files of another folder.
func keepOnly(t *testing.T, from, to string, some []string) {
	t.Helper()
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range some {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// exported returns every entry of the sessions of converse, each as a line.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, code := runCommand(t, "journal", "export", "--dir", dir)
	if code != 0 {
		t.Fatalf("exit %d:\n%.2000s", code, out)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"before-`) || strings.Contains(line, `"after-`) {
			lines[line] = true
		}
	}
	return lines
}

// restored starts a database from the backup and the archived log.
func restored(t *testing.T, parent, name, copied, logs string) *database {
	t.Helper()
	d := newDatabase(t, parent, name)
	d.dsn = d.script("restore", copied, logs)
	return d
}

// verified runs «floodmark journal verify» on a database. If the journal is good, it also returns
// the entries.
func verified(t *testing.T, dir string, d *database) (out string, entries map[string]bool, code int) {
	t.Helper()
	r := launch(t, dir, "", "--journal", d.url())
	if !r.ready() {
		return r.out.String(), nil, 1 // the monitor does not even start
	}
	if out, code = runCommand(t, "journal", "verify", "--dir", dir); code == 0 {
		entries = exported(t, dir)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	return out, entries, code
}

// converseVariable is the environment variable that makes this program run [runConversation].
const converseVariable = "FLOODMARK_SOAK_CONVERSE"

// converse sends events of twenty sessions from another process, because a process that reports
// events cannot ask as the owner.
func converse(t *testing.T, r *running, name string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), converseVariable+"="+r.paths.HookSocket+" "+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// runConversation is the process that sends the events for converse.
func runConversation(told string) {
	socket, name, _ := strings.Cut(told, " ")
	c, err := client.Dial(socket, client.Options{Timeout: time.Minute})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer c.Close()
	for i := range 20 {
		id := floodmark.SessionID(fmt.Sprintf("%s-%d", name, i))
		for _, e := range []hook.Event{
			{Point: hook.SessionStart, Agent: "pi", Session: id},
			{Point: hook.MessageReceived, Agent: "pi", Session: id, Text: "add up the costs in notes.txt"},
		} {
			if reply, err := c.Handle(context.Background(), e); err != nil || reply.Decision.Verdict != floodmark.Allow {
				fmt.Println(reply.Line, err)
				os.Exit(1)
			}
		}
	}
}
