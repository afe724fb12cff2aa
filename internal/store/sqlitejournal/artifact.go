package sqlitejournal

import (
	"context"
	"database/sql/driver"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

const (
	artifactSQL = "SELECT session, seq, body FROM artifacts WHERE tenant = ? AND key = ?"
	leaveSQL    = `
		INSERT INTO artifacts (tenant, key, session, seq, body) VALUES (?,?,?,?,?)
		ON CONFLICT DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE seq < excluded.seq`
	takeBackSQL = "DELETE FROM artifacts WHERE tenant = ? AND key = ? AND session = ? AND seq <= ?"
)

// artifacts writes what sessions leave behind.
func (w *writer) artifacts(list []journal.Artifact) error {
	for i := range list {
		a := &list[i]
		var err error
		if a.Gone() {
			err = w.takeBack.run(values(a.Tenant, a.Key[:], string(a.Session), int64(a.Seq))...)
		} else {
			w.left.keys.add(a.Key)
			err = w.leave.run(values(a.Tenant, a.Key[:], string(a.Session), int64(a.Seq), a.Body)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Artifacts implements [journal.Journal].
func (j *Journal) Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]journal.Artifact, error) {
	if err := j.enter(); err != nil {
		return nil, err
	}
	defer j.active.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, unknown, writes := j.left.find(tenant, keys)
	if len(unknown) == 0 {
		return found, nil
	}
	var read []journal.Artifact
	err := j.sessions.do(ctx, func(r *reader) error {
		for _, k := range unknown {
			err := r.artifact.each(func(row []driver.Value) (bool, error) {
				read = append(read, journal.Artifact{
					Tenant: tenant, Key: k, Session: floodmark.SessionID(text(row[0])), Seq: uint64(integer(row[1])), Body: blob(row[2]),
				})
				return true, nil
			}, values(tenant, k[:])...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, reading("read what sessions left behind", err)
	}
	j.left.learn(tenant, unknown, read, writes)
	return append(found, read...), nil
}
