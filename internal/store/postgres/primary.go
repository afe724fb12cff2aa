package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A primary tracks which of a DSN's servers is the primary. After a failover the old one may still
// accept connections, and hang waiting for a replica; it must not be used just because it is named
// first.
type primary struct {
	turn     atomic.Int64 // how many servers to skip
	timeline atomic.Int64 // the newest seen; each promotion begins one
}

// errReplaced says that another server has been promoted.
var errReplaced = errors.New("this server is no longer the primary: another was promoted since")

const roleSQL = `
SELECT current_setting('transaction_read_only'),
    CASE WHEN pg_is_in_recovery() THEN '0' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`

// validate refuses a server that takes no writes or was replaced. pgx then tries the next server of
// the DSN.
func (p *primary) validate(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, roleSQL).ReadAll()
	if err != nil {
		return err
	}
	row := results[0].Rows[0]
	if string(row[0]) != "off" {
		return pgconn.ErrReadOnlyConnection
	}
	timeline, err := strconv.ParseInt(string(row[1]), 16, 64)
	if err != nil {
		return fmt.Errorf("read the timeline: %w", err)
	}
	for {
		seen := p.timeline.Load()
		if timeline < seen {
			return errReplaced
		}
		if p.timeline.CompareAndSwap(seen, timeline) {
			noticesOf(c).timeline = timeline
			return nil
		}
	}
}

// holds reports whether, as far as this node knows, no server was promoted since a connection was
// made.
func (p *primary) holds(c *pgconn.PgConn) bool { return noticesOf(c).timeline >= p.timeline.Load() }

// distrust starts the search for the primary at the next server.
func (p *primary) distrust() { p.turn.Add(1) }

// arrange sorts the servers in the order to try.
func (p *primary) arrange(config *pgx.ConnConfig) {
	// A server may be listed twice in a row, with and without TLS.
	all := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	var servers [][]*pgconn.FallbackConfig
	for _, f := range all {
		if n := len(servers); n > 0 && servers[n-1][0].Host == f.Host && servers[n-1][0].Port == f.Port {
			servers[n-1] = append(servers[n-1], f)
		} else {
			servers = append(servers, []*pgconn.FallbackConfig{f})
		}
	}
	k := int(p.turn.Load() % int64(len(servers)))
	all = slices.Concat(append(slices.Clone(servers[k:]), servers[:k]...)...)
	config.Host, config.Port, config.TLSConfig = all[0].Host, all[0].Port, all[0].TLSConfig
	config.Fallbacks = all[1:]
}
