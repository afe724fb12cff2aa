package transcript

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite"
)

// queryTime bounds how long a database is read, because the agent may be writing to it.
const queryTime = time.Minute

// open opens a database of an agent for reading only.
func open(path string) (*sql.DB, error) {
	return openAs("file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)")
}

func openAs(name string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// A row is one piece of a session in a database.
type row struct {
	at   int64 // milliseconds since 1970
	data sql.NullString
}

// rows passes every row of a query to take, session by session. The query selects three names of
// the session, a time and a piece, in the order of writing.
func rows(path, query string, changed time.Time, take func(g *gather, r row) error) ([]Session, error) {
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer db.Close() // the database was only read
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	found, err := db.QueryContext(ctx, query, MaxLine)
	if err != nil {
		return nil, fmt.Errorf("it is not in a form that is known: %w", err)
	}
	defer found.Close()
	var list []Session
	var g *gather
	for found.Next() {
		var name, key, parent sql.NullString
		var r row
		if err := found.Scan(&name, &key, &parent, &r.at, &r.data); err != nil {
			return nil, err
		}
		if g == nil || g.Names[0] != name.String {
			if g != nil {
				list = append(list, g.done()...)
			}
			g = newGather(name.String, key.String, parent.String)
			if len(g.Names) == 0 || g.Names[0] != name.String {
				g.Names = append([]string{name.String}, g.Names...)
			}
		}
		if !r.data.Valid || take(g, r) != nil {
			g.Unread++
		}
	}
	if g != nil {
		list = append(list, g.done()...)
	}
	for _, s := range list {
		date(s.Calls, changed)
	}
	return list, found.Err()
}

// opencodeDB reads the database of opencode 1.x.
func opencodeDB(path string, changed time.Time) ([]Session, error) {
	const query = `SELECT s.id, NULL, s.parent_id, p.time_created, CASE WHEN length(p.data) <= ? THEN p.data END
		FROM part p JOIN session s ON s.id = p.session_id ORDER BY s.id, p.time_created, p.id`
	return rows(path, query, changed, func(g *gather, r row) error { return g.opencode([]byte(r.data.String), time.UnixMilli(r.at)) })
}

// openclawDB reads the database of OpenClaw 2026.9: the lines of pi, in rows. Long ones are
// compressed and counted as unread. Its hooks name a session by its key, a "#", and its id.
func openclawDB(path string, changed time.Time) ([]Session, error) {
	const query = `SELECT coalesce(w.session_key || '#', '') || t.session_id, t.session_id, NULL, t.created_at,
			CASE WHEN length(t.event_json) <= ? THEN t.event_json END
		FROM transcript_events t LEFT JOIN session_windows w ON w.session_id = t.session_id ORDER BY t.session_id, t.seq`
	list, err := rows(path, query, changed, func(g *gather, r row) error { return piLine(g, []byte(r.data.String), openclawOutcome) })
	for _, s := range list {
		for i := range s.Calls {
			// A result that was too long to be read may be the missing result of this call. Such a
			// call ran, unless it was refused within tool_call.
			if s.Unread > 0 && s.Calls[i].Outcome == Unknown {
				s.Calls[i].Outcome, s.Calls[i].Unread = Ran, true
			}
		}
	}
	return list, err
}
