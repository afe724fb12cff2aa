package postgres

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The database shows and accepts only rows of the tenants that a connection acts for. So a
// statement that lacks the tenant's condition finds nothing, instead of another's rows.
const (
	AllTenants   = "*" // to read, not to write
	NoTenants    = ""
	otherTenants = "?" // the setting is unknown: a transaction ended
	actSQL       = `SELECT set_config('floodmark.tenants', $1, false)`
)

// TenantList returns the value of the setting floodmark.tenants that names these tenants.
func TenantList(tenants ...string) string {
	var b strings.Builder
	for i, t := range tenants {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('x')
		b.WriteString(hex.EncodeToString([]byte(t)))
	}
	return b.String()
}

// ActsAs sets the tenants of the connection, if the server uses that and it is not set already.
func ActsAs(ctx context.Context, c *pgx.Conn, list string) error {
	n := noticesOf(c.PgConn())
	if !n.guarded || n.tenants == list {
		return nil
	}
	n.tenants = otherTenants
	if _, err := c.Exec(ctx, actSQL, list); err != nil {
		return err
	}
	n.tenants = list
	return nil
}

// ForgetTenants says that the tenants of the connection are unknown, after a transaction that set
// them was rolled back.
func ForgetTenants(c *pgx.Conn) { noticesOf(c.PgConn()).tenants = otherTenants }

// A Setting sets the tenants of a connection in one transaction with other statements.
type Setting struct {
	on      *notices
	tenants string
}

// SettingOf returns the Setting of a connection. It calls tenants only if the server uses the
// setting.
func SettingOf(c *pgx.Conn, tenants func() string) Setting {
	s := Setting{on: noticesOf(c.PgConn())}
	s.tenants = s.on.tenants
	if s.on.guarded {
		s.tenants = tenants()
	}
	return s
}

// Needed reports whether the tenants are not set yet.
func (s Setting) Needed() bool { return s.tenants != s.on.tenants }

// Queue adds the statement. Done must be called once the transaction has been committed.
func (s Setting) Queue(b *pgx.Batch) {
	s.on.tenants = otherTenants
	b.Queue(actSQL, s.tenants)
}

// Done says that the tenants are set.
func (s Setting) Done() { s.on.tenants = s.tenants }
