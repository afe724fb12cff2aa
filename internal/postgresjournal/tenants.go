package postgresjournal

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The database shows a connection the rows of those tenants it says it acts for,
// and takes rows of these only. So a statement that forgets to ask for the
// tenant finds nothing, instead of another's.
const (
	allTenants   = "*" // to read, not to write
	noTenants    = ""
	otherTenants = "?" // the setting is unknown: a transaction ended
	actSQL       = `SELECT set_config('floodmark.tenants', $1, false)`
)

// tenantList is how the setting names tenants.
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

// actsAs tells the server for whom the connection acts, if that matters to it
// and is not so already.
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

// tenantsOf are those a group writes for.
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
