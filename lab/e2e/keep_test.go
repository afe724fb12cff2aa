package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	_ "modernc.org/sqlite" // agents keep transcripts in such files

	"github.com/floodmark/floodmark/internal/agents/transcript"
	"github.com/floodmark/floodmark/journal"
)

// keep writes down the agent's transcript and what the journal knows of it, anonymized, for the
// tests of internal/agents/transcript.
func (w *world) keep(agent, scene string) {
	w.t.Helper()
	files, _, err := transcript.Find(agent, transcript.Folders{Home: w.home}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	a := &txtar.Archive{Comment: []byte("Recorded from " + agent + ": " + scene + ".\n")}
	for _, f := range files {
		rel, _ := filepath.Rel(w.home, f.Path)
		data, err := os.ReadFile(f.Path)
		if bytes.HasPrefix(data, []byte("SQLite format 3")) {
			rel, data = rel+".rows", w.dump(agent, f.Path)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		a.Files = append(a.Files, txtar.File{Name: rel, Data: shortened(data)})
	}
	records := map[string]*transcript.Record{}
	for h, err := range w.journal.Recent(w.t.Context(), "") {
		if err != nil {
			w.t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(string(h.Session.ID), agent+":"); ok {
			records[name] = w.record(string(journal.Session{ID: h.Session.ID}.ID))
		}
	}
	data, err := json.Marshal(records)
	if err != nil {
		w.t.Fatal(err)
	}
	a.Files = append(a.Files, txtar.File{Name: "journal.json", Data: append(data, '\n')})
	text := w.nobodys(txtar.Format(a))
	path := filepath.Join(*keep, agent, strings.ReplaceAll(scene, " ", "-")+".txtar")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// nobodys replaces names and places. The same name always gets the same replacement.
func (w *world) nobodys(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte(w.home), []byte("/home/anna"))
	text = bytes.ReplaceAll(text, []byte(strings.ReplaceAll(strings.Trim(w.home, "/"), "/", "-")), []byte("home-anna"))
	text = bytes.ReplaceAll(text, []byte(w.llm.URL), []byte("http://127.0.0.1:8080"))
	text = bytes.ReplaceAll(text, []byte(w.web.URL), []byte("http://127.0.0.1:8081"))
	text = bytes.ReplaceAll(text, []byte(w.secret), []byte("4711"))
	seen := map[string]string{}
	fresh := func(form string) func([]byte) []byte {
		return func(id []byte) []byte {
			if _, ok := seen[string(id)]; !ok {
				seen[string(id)] = fmt.Sprintf(form, len(seen)+1)
			}
			return []byte(seen[string(id)])
		}
	}
	uuid := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	text = uuid.ReplaceAllFunc(text, fresh("00000000-0000-4000-8000-%012d"))
	text = regexp.MustCompile(`ses_[0-9A-Za-z]{20,}`).ReplaceAllFunc(text, fresh("ses_%026d"))
	return regexp.MustCompile(`(msg|prt)_[0-9A-Za-z]{20,}`).ReplaceAllFunc(text, fresh("prt_%026d"))
}

// shortened cuts long texts in lines of JSON, which are the vendors' prompts.
func shortened(data []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			out.Write(line)
			continue
		}
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(cutTexts(v)) // it was JSON before
	}
	return out.Bytes()
}

func cutTexts(v any) any {
	const most = 160
	switch v := v.(type) {
	case string:
		if len(v) > most {
			return strings.ToValidUTF8(v[:most], "") + "…"
		}
	case []any:
		for i := range v {
			v[i] = cutTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			switch k {
			case "base_instructions", "dynamic_tools", "skillsSnapshot", "systemPromptReport", "world_state":
				delete(v, k)
			default:
				v[k] = cutTexts(v[k])
			}
		}
	}
	return v
}

// dump writes the rows that contain a transcript, one on each line.
func (w *world) dump(agent, path string) []byte {
	w.t.Helper()
	queries := map[string][]string{
		"opencode": {
			`SELECT json_object('table','session','id',id,'parent_id',parent_id) FROM session`,
			`SELECT json_object('table','part','id',id,'session_id',session_id,'time_created',time_created,'data',json(data)) FROM part ORDER BY time_created, id`,
		},
		"openclaw": {
			`SELECT json_object('table','session_windows','session_id',session_id,'session_key',session_key,'parent_session_key',parent_session_key,'spawned_by',spawned_by) FROM session_windows`,
			`SELECT json_object('table','transcript_events','session_id',session_id,'seq',seq,'created_at',created_at,'event_json',json(event_json)) FROM transcript_events ORDER BY session_id, seq`,
		},
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	var out bytes.Buffer
	for _, q := range queries[agent] {
		if err := lines(w, db, q, &out); err != nil {
			w.t.Fatal(err)
		}
	}
	return out.Bytes()
}

// lines writes the results of a query.
func lines(w *world, db *sql.DB, query string, out *bytes.Buffer) error {
	rows, err := db.QueryContext(w.t.Context(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		out.WriteString(line + "\n")
	}
	return rows.Err()
}
