package sqlitejournal

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// headsAtOnce is how many heads one query lists after a mark, so that a caller that wants a few
// does not wait for all.
const headsAtOnce = 4096

// Heads implements [journal.Journal]. It first lists which rows are the last of their sessions,
// eight bytes each, and then reads these rows. For a session that is written meanwhile, it yields
// the entry that was last before, and perhaps a newer one later.
func (j *Journal) Heads(ctx context.Context, after journal.Mark) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for more := true; more; {
			marks, err := j.lastMarks(ctx, after)
			for page := range slices.Chunk(marks, pageRows) {
				var heads []journal.Head
				heads, err = j.headsAt(ctx, page)
				for _, h := range heads {
					if !yield(h, nil) {
						return
					}
				}
				if err != nil {
					break
				}
			}
			if err != nil {
				yield(journal.Head{}, err)
				return
			}
			if more = after > 0 && len(marks) == headsAtOnce; more {
				after = journal.Mark(marks[len(marks)-1])
			}
		}
	}
}

// lastMarks returns the rows after a mark that are the last of their session, in the order of
// writing. From the beginning it queries once per session and returns all of them; from any other
// mark it queries once per row and returns the first ones, because later calls usually need few.
func (j *Journal) lastMarks(ctx context.Context, after journal.Mark) ([]int64, error) {
	if after <= 0 {
		return j.queryMarks(ctx, `
			SELECT coalesce((SELECT f.mark FROM facts f WHERE f.sid = s.id ORDER BY f.seq DESC LIMIT 1), 0)
			FROM sessions s`)
	}
	return j.queryMarks(ctx, `
		SELECT f.mark FROM facts f WHERE f.mark > ?
		AND NOT EXISTS (SELECT 1 FROM facts g WHERE g.sid = f.sid AND g.seq = f.seq + 1)
		ORDER BY f.mark LIMIT ?`, int64(after), headsAtOnce)
}

// queryMarks returns marks in the order of writing.
func (j *Journal) queryMarks(ctx context.Context, query string, args ...any) ([]int64, error) {
	if err := j.enter(); err != nil {
		return nil, err
	}
	defer j.active.Done()
	rows, err := j.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, reading("list heads", err)
	}
	defer rows.Close()
	var marks []int64
	for rows.Next() {
		var mark int64
		if err := rows.Scan(&mark); err != nil {
			return nil, reading("list heads", err)
		}
		marks = append(marks, mark)
	}
	if err := rows.Err(); err != nil {
		return nil, reading("list heads", err)
	}
	slices.Sort(marks)
	return marks, nil
}

const headColumns = `SELECT f.mark, s.tenant, s.session, f.seq, f.hash, f.at
	FROM facts f JOIN sessions s ON s.id = f.sid `

// headsAt reads rows by their marks. A row that was erased meanwhile is skipped, because its
// tombstone has a later mark.
func (j *Journal) headsAt(ctx context.Context, marks []int64) ([]journal.Head, error) {
	marks = slices.Clone(marks)
	query := make([]byte, 0, len(headColumns)+16+2*len(marks))
	query = append(query, headColumns+"WHERE f.mark IN (0"...)
	args := make([]any, len(marks))
	for i, m := range marks {
		query = append(query, ",?"...)
		args[i] = m
	}
	heads, err := j.queryHeads(ctx, string(append(query, ')')), args...)
	slices.SortFunc(heads, func(a, b journal.Head) int { return cmp.Compare(a.Mark, b.Mark) })
	return heads, err
}

// walked is how many of the newest rows Recent walks through. A caller that wants a few sessions
// needs no more, however many sessions there are.
const walked = 4096

// Recent implements [journal.Journal]. It yields the sessions of the entries that existed when it
// began: first those whose last entry is among the newest rows, then the others. Their last rows are
// listed, eight bytes each, and then read.
func (j *Journal) Recent(ctx context.Context, tenant string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for h, err := range j.recentPages(ctx, tenant) {
			for _, one := range h {
				if !yield(one, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Head{}, err)
				return
			}
		}
	}
}

func (j *Journal) recentPages(ctx context.Context, tenant string) iter.Seq2[[]journal.Head, error] {
	return func(yield func([]journal.Head, error) bool) {
		top, err := j.end(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		if heads, err := j.queryHeads(ctx, newestSQL, top, top-walked, tenant, top); !yield(heads, err) || err != nil {
			return
		}
		marks, err := j.queryMarks(ctx, olderSQL, top, tenant)
		marks = slices.DeleteFunc(marks, func(m int64) bool { return m == 0 || m > top-walked })
		if err != nil {
			yield(nil, err)
			return
		}
		slices.Reverse(marks)
		for page := range slices.Chunk(marks, pageRows) {
			heads, err := j.headsAt(ctx, page)
			slices.Reverse(heads)
			if !yield(heads, err) || err != nil {
				return
			}
		}
	}
}

const (
	// newestSQL walks back through rows. Without CROSS, SQLite would look at all sessions first.
	newestSQL = `SELECT f.mark, s.tenant, s.session, f.seq, f.hash, f.at
		FROM facts f CROSS JOIN sessions s ON s.id = f.sid
		WHERE f.mark <= ? AND f.mark > ? AND s.tenant = ?
		AND NOT EXISTS (SELECT 1 FROM facts g WHERE g.sid = f.sid AND g.seq = f.seq + 1 AND g.mark <= ?)
		ORDER BY f.mark DESC`
	// olderSQL finds the last row of each session that is not after a mark.
	olderSQL = `SELECT coalesce((SELECT f.mark FROM facts f WHERE f.sid = s.id AND f.mark <= ? ORDER BY f.seq DESC LIMIT 1), 0)
		FROM sessions s WHERE s.tenant = ?`
)

// end returns the mark of the newest entry.
func (j *Journal) end(ctx context.Context) (mark int64, err error) {
	if err := j.enter(); err != nil {
		return 0, err
	}
	defer j.active.Done()
	if err := j.reads.QueryRowContext(ctx, "SELECT coalesce(max(mark), 0) FROM facts").Scan(&mark); err != nil {
		return 0, reading("find the end of the journal", err)
	}
	return mark, nil
}

func (j *Journal) queryHeads(ctx context.Context, query string, args ...any) ([]journal.Head, error) {
	if err := j.enter(); err != nil {
		return nil, err
	}
	defer j.active.Done()
	rows, err := j.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, reading("list heads", err)
	}
	defer rows.Close()
	var heads []journal.Head
	for rows.Next() {
		var (
			mark, seq, at int64
			tenant, id    string
			hash          []byte
		)
		if err := rows.Scan(&mark, &tenant, &id, &seq, &hash, &at); err != nil {
			return nil, reading("list heads", err)
		}
		link, err := linkOf(seq, hash)
		if err != nil {
			return nil, err
		}
		s := journal.Session{Tenant: tenant, ID: floodmark.SessionID(id)}
		heads = append(heads, journal.Head{Session: s, Link: link, At: at, Mark: journal.Mark(mark)})
	}
	if err := rows.Err(); err != nil {
		return nil, reading("list heads", err)
	}
	return heads, nil
}

// keptEntriesSQL finds its rows by the index of keptSQL.
const keptEntriesSQL = `
	SELECT f.mark, s.tenant, s.session, f.seq, f.at, f.body FROM facts f JOIN sessions s ON s.id = f.sid
	WHERE f.kind = '` + journal.KeptKind + `' AND f.mark > ? ORDER BY f.mark LIMIT ?`

// KeptEntries implements [journal.KeptLister].
func (j *Journal) KeptEntries(ctx context.Context) iter.Seq2[journal.Placed, error] {
	return func(yield func(journal.Placed, error) bool) {
		for after, more := int64(0), true; more; {
			page, last, err := j.pageOfKept(ctx, after)
			for _, p := range page {
				if !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Placed{}, err)
				return
			}
			after, more = last, len(page) == headsAtOnce
		}
	}
}

func (j *Journal) pageOfKept(ctx context.Context, after int64) (page []journal.Placed, last int64, err error) {
	if err := j.enter(); err != nil {
		return nil, 0, err
	}
	defer j.active.Done()
	rows, err := j.reads.QueryContext(ctx, keptEntriesSQL, after, headsAtOnce)
	if err != nil {
		return nil, 0, reading("list what sessions left behind", err)
	}
	defer rows.Close()
	for rows.Next() {
		p := journal.Placed{Entry: journal.Entry{Kind: journal.KeptKind}}
		if err := rows.Scan(&last, &p.Session.Tenant, &p.Session.ID, &p.Entry.Seq, &p.Entry.At, &p.Entry.Body); err != nil {
			return nil, 0, reading("list what sessions left behind", err)
		}
		page = append(page, p)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, reading("list what sessions left behind", err)
	}
	return page, last, nil
}
