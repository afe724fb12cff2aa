package sqlitejournal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/journal"
)

const (
	// queueLength is how many appends may wait. A further caller blocks until there is room or its
	// context ends.
	queueLength = 1024
	// readers is how many reads run at once.
	readers = 8
	// busyMillis is how long we wait for a database shell that holds the lock.
	busyMillis = "busy_timeout(5000)"
)

// OpenWhole is [Open] for making decisions: it refuses a journal that has lost what sessions left
// behind.
func OpenWhole(ctx context.Context, path string, opts Options) (*Journal, error) {
	j, err := Open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if err := journal.CheckArtifacts(ctx, j); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Open opens the journal in the file at path, creating it if necessary. It returns
// [journal.ErrNotDurable] for a store that could lose acknowledged writes, and an error that names
// the process if another one has it open.
func Open(ctx context.Context, path string, opts Options) (*Journal, error) {
	path, err := place(path, opts)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, lock: lock, left: newRemembered(), missing: newMissing(), queue: make(chan *request, queueLength), done: make(chan struct{})}
	if err := j.open(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal %s: %w", path, err), wholefile.Unlock(lock))
	}
	return j, nil
}

func (j *Journal) open(ctx context.Context, opts Options) error {
	fault := opts.Fault
	if fault == nil {
		fault = func(string) {}
	}
	if err := private(j.path); err != nil {
		return err
	}
	c, err := connect(ctx, j.path, busyMillis)
	if err != nil {
		return reading("connect", err)
	}
	w, err := prepareStore(c, fault)
	if err != nil {
		return errors.Join(err, c.close())
	}
	connector, err := sqlite.NewConnector(dsn(j.path, readSettings()...))
	if err != nil {
		return errors.Join(err, c.close())
	}
	j.sessions = newReaderPool(j.path)
	j.reads = sql.OpenDB(connector)
	j.reads.SetMaxOpenConns(readers)
	j.reads.SetMaxIdleConns(readers)
	w.stats, w.left, w.missing = &j.stats, j.left, j.missing
	if opts.LogBytes > 0 {
		w.most = opts.LogBytes
	}
	filling, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.active.Go(func() { j.left.keys.fill(filling, j.sessions) })
	go func() {
		defer close(j.done)
		w.run(j.queue)
		j.ended = w.close()
	}()
	return nil
}

// readSettings are for a connection that only reads.
func readSettings() []string { return []string{busyMillis, "query_only(1)", "cache_size(-8192)"} }

// place returns the real path of the store, in an existing directory.
func place(path string, opts Options) (string, error) {
	if path == "" || strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:") {
		return "", fmt.Errorf("%w: %q is not the path of a file", journal.ErrNotDurable, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("place of the journal: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("directory of the journal: %w", err)
	}
	// Two names of one store must lead to one lock.
	if store, err := filepath.EvalSymlinks(path); err == nil {
		path, dir = store, filepath.Dir(store)
	} else if folder, err := filepath.EvalSymlinks(dir); err == nil {
		path, dir = filepath.Join(folder, filepath.Base(path)), folder
	}
	kind, err := fileSystem(dir)
	if err != nil {
		return "", fmt.Errorf("file system of the journal: %w", err)
	}
	switch {
	case kind == inMemory && !opts.Volatile:
		return "", fmt.Errorf("%w: %s is on a file system in memory; use a directory on a disk", journal.ErrNotDurable, dir)
	case kind == remote:
		return "", fmt.Errorf("%w: %s is on a network file system, where locks and flushes are promises of others; use a local disk", journal.ErrNotDurable, dir)
	}
	return path, nil
}

// private creates the store's file for its owner only, before SQLite opens it: the log beside it
// gets the same mode. A new file's name is flushed, too.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	for _, name := range []string{dir, filepath.Dir(dir)} {
		d, err := os.Open(name)
		if err != nil {
			continue // a directory that we did not make
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// prepareStore makes a connection durable, migrates the schema, and flushes what an earlier process
// left in the log.
func prepareStore(c *conn, fault func(string)) (*writer, error) {
	if err := owned(c); err != nil {
		return nil, err
	}
	if err := durable(c); err != nil {
		return nil, err
	}
	if err := migrate(c, fault); err != nil {
		return nil, err
	}
	// What a process wrote to the log and did not flush before it died can be read, but a power cut
	// would lose it. After this checkpoint it is on the disk, so readers may see it.
	row, err := c.ask("PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return nil, reading("move the log into the store", err)
	}
	if row[0] != driver.Value(int64(0)) {
		return nil, errors.New("move the log into the store: another program reads it; close that first")
	}
	return newWriter(c, fault)
}

// durable applies the settings, and trusts only what SQLite then reports.
func durable(c *conn) error {
	for _, s := range []struct{ set, get, want string }{
		{"PRAGMA journal_mode=WAL", "PRAGMA journal_mode", "wal"},
		{"PRAGMA synchronous=FULL", "PRAGMA synchronous", "2"},
		{"PRAGMA fullfsync=1", "PRAGMA fullfsync", "1"},
		{"PRAGMA checkpoint_fullfsync=1", "PRAGMA checkpoint_fullfsync", "1"},
		// Erased data is overwritten, not only unlinked.
		{"PRAGMA secure_delete=ON", "PRAGMA secure_delete", "1"},
		{"PRAGMA wal_autocheckpoint=0", "PRAGMA wal_autocheckpoint", "0"},
		// A larger cache makes every commit slower, because SQLite scans all of it.
		{"PRAGMA cache_size=-8192", "PRAGMA cache_size", "-8192"},
	} {
		if err := c.exec(s.set); err != nil {
			return reading(s.set, err)
		}
		got, err := c.ask(s.get)
		if err != nil {
			return reading(s.get, err)
		}
		if said := fmt.Sprint(got[0]); said != s.want {
			return fmt.Errorf("%w: %s is %s, want %s", journal.ErrNotDurable, s.get, said, s.want)
		}
	}
	return nil
}
