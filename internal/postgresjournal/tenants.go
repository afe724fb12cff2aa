package postgresjournal

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The database shows and accepts only rows of the tenants that a connection acts for. So a
// statement that lacks the tenant's condition finds nothing, instead of another's rows.
const (
	allTenants   = "*" // to read, not to write
	noTenants    = ""
	otherTenants = "?" // the setting is unknown: a transaction ended
	actSQL       = `SELECT set_config('floodmark.tenants', $1, false)`
)

// tenantList is the setting's value for some tenants.
func tenantList(tenants ...string) string {
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

// actsAs sets the tenants of the connection, if the server uses that and it is not set already.
func actsAs(ctx context.Context, c *pgx.Conn, list string) error {
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

// tenantsOf are the tenants of a group.
func tenantsOf(parts ...*args) string {
	var list []string
	last := ""
	add := func(t string) {
		if len(list) > 0 && t == last {
			return
		}
		last = t
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, a := range parts {
		for _, t := range a.tenants {
			add(string(t))
		}
		for i := range a.contents {
			add(a.contents[i].Tenant)
		}
		for i := range a.artifacts {
			add(a.artifacts[i].Tenant)
		}
	}
	slices.Sort(list)
	return tenantList(list...)
}
