package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// A run is a home with an agent's transcripts, and the journal's records of its sessions.
type run struct {
	agent   string
	files   map[string][]byte // by path below home; a .rows file becomes a database
	records map[string]*Record
}

// recorded returns the runs of real agents that lab/e2e has stored.
func recorded(t *testing.T) map[string]run {
	t.Helper()
	names, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("nothing was recorded", err)
	}
	all := map[string]run{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := run{agent: filepath.Base(filepath.Dir(name)), files: map[string][]byte{}}
		for _, f := range a.Files {
			if f.Name != "journal.json" {
				r.files[f.Name] = f.Data
			} else if err := json.Unmarshal(f.Data, &r.records); err != nil {
				t.Fatal(err)
			}
		}
		all[strings.TrimSuffix(strings.TrimPrefix(name, "testdata/"), ".txtar")] = r
	}
	return all
}

// cover writes the run to a home, and compares it with its journal.
func (r run) cover(t testing.TB) Coverage {
	t.Helper()
	home := t.TempDir()
	for name, data := range r.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if db, ok := strings.CutSuffix(path, ".rows"); ok {
			build(t, db, data)
			continue
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Time{}
	for _, k := range r.records {
		if began.IsZero() || k.Opened.Before(began) {
			began = k.Opened
		}
	}
	got, err := Cover(Question{
		Agent: r.agent, In: Folders{Home: home}, Began: began.Add(-time.Hour),
		Look: func(name string) (*Record, error) { return r.records[name], nil },
	})
	if err != nil || len(got.Failed) > 0 {
		t.Fatal(err, got.Failed)
	}
	return got
}

// findings returns all findings as texts.
func (c Coverage) findings() (list []string) {
	for _, r := range c.Reports {
		for _, f := range r.Findings {
			list = append(list, f.Kind+" "+f.Call.Tool)
		}
	}
	return list
}

// count sums up how many calls ran.
func (c Coverage) ran() (n int) {
	for _, r := range c.Reports {
		n += r.Ran
	}
	return n
}

func (c Coverage) unread() (n int) {
	for _, r := range c.Reports {
		n += r.Session.Unread
	}
	return n
}

// build makes a database of rows, with the columns that are read.
func build(t testing.TB, path string, lines []byte) {
	t.Helper()
	name := "file:" + path + "?_pragma=synchronous(0)&_pragma=journal_mode(off)"
	db, err := openAs(name)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	do := func(query string, args ...any) {
		if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
			t.Fatal(query, err)
		}
	}
	tables := map[string]string{
		"session": "id TEXT, parent_id TEXT", "part": "id TEXT, session_id TEXT, time_created INTEGER, data TEXT",
		"session_windows":   "session_id TEXT, session_key TEXT, parent_session_key TEXT, spawned_by TEXT",
		"transcript_events": "session_id TEXT, seq INTEGER, created_at INTEGER, event_json TEXT",
	}
	do("BEGIN")
	defer do("COMMIT")
	for table, columns := range tables {
		do("CREATE TABLE " + table + "(" + columns + ")")
	}
	for line := range bytes.Lines(lines) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		var table string
		if json.Unmarshal(row["table"], &table) != nil || tables[table] == "" {
			t.Fatalf("a row of no table: %s", line)
		}
		delete(row, "table")
		columns := slices.Sorted(maps.Keys(row))
		args := make([]any, len(columns))
		for i, c := range columns {
			var v any
			_ = json.Unmarshal(row[c], &v)
			switch v := v.(type) {
			case map[string]any:
				args[i] = string(row[c])
			case float64:
				args[i] = int64(v)
			default:
				args[i] = v
			}
		}
		do("INSERT INTO "+table+"("+strings.Join(columns, ",")+") VALUES (?"+strings.Repeat(",?", len(columns)-1)+")", args...)
	}
}

// clone copies what a test changes.
func (r run) clone() run {
	c := run{agent: r.agent, files: maps.Clone(r.files), records: map[string]*Record{}}
	for name, k := range r.records {
		c.records[name] = &Record{Opened: k.Opened, Erased: k.Erased, Decisions: slices.Clone(k.Decisions)}
	}
	return c
}
