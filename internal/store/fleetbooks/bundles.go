package fleetbooks

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// bundles are stored in the first database, because they are few and belong to no session.
type bundles struct{ *Books }

var _ bundle.Store = bundles{}

// Bundles returns the store of the fleet's bundles. It closes with the journal.
func (b *Books) Bundles() bundle.Store { return bundles{b} }

const (
	publishSQL    = `INSERT INTO bundles (tenant, version, sealed) VALUES ($1, $2, $3)`
	lastBundleSQL = `SELECT coalesce(max(version), 0) FROM bundles WHERE tenant = $1`
	bundleSQL     = `SELECT sealed FROM bundles WHERE tenant = $1 AND version = $2`
	rollSQL       = `INSERT INTO rollouts (tenant, serial, body) VALUES ($1, $2, $3)`
	rolledSQL     = `SELECT body FROM rollouts WHERE tenant = $1 ORDER BY serial DESC LIMIT 1`
	rolledPutSQL  = `SELECT body FROM rollouts WHERE tenant = $1 AND serial = $2`
)

// Publish implements [bundle.Store].
func (b bundles) Publish(ctx context.Context, sealed []byte) error {
	claims, err := bundle.Claims(sealed)
	if err != nil {
		return err
	}
	if err := b.add(ctx, claims.Tenant, publishSQL, int64(claims.Version), sealed); err != nil {
		return fmt.Errorf("publish version %d: %w", claims.Version, err)
	}
	return nil
}

// Last implements [bundle.Store].
func (b bundles) Last(ctx context.Context, tenant string) (uint64, error) {
	var last int64
	if err := b.read(ctx, tenant, lastBundleSQL, []any{&last}); err != nil {
		return 0, fmt.Errorf("look for bundles: %w", err)
	}
	return uint64(last), nil
}

// Get implements [bundle.Store].
func (b bundles) Get(ctx context.Context, tenant string, version uint64) (sealed []byte, err error) {
	if version > math.MaxInt64 {
		return nil, fmt.Errorf("version %d: %w", version, bundle.ErrNone)
	}
	if err := b.read(ctx, tenant, bundleSQL, []any{&sealed}, int64(version)); err != nil {
		return nil, fmt.Errorf("version %d: %w", version, err)
	}
	return sealed, nil
}

// Roll implements [bundle.Store].
func (b bundles) Roll(ctx context.Context, r bundle.Rollout) error {
	if err := r.Check(); err != nil {
		return err
	}
	body, err := r.Encode()
	if err != nil {
		return err
	}
	if err := b.add(ctx, r.Tenant, rollSQL, int64(r.Serial), body); err != nil {
		return fmt.Errorf("rollout %d: %w", r.Serial, err)
	}
	return nil
}

// Now implements [bundle.Store].
func (b bundles) Now(ctx context.Context, tenant string) (bundle.Rollout, error) {
	r, err := b.rollout(ctx, tenant, rolledSQL)
	if errors.Is(err, bundle.ErrNone) {
		return bundle.Rollout{Tenant: tenant}, nil
	}
	if err != nil {
		return bundle.Rollout{}, fmt.Errorf("read the rollout: %w", err)
	}
	return r, nil
}

// Past implements [bundle.Store].
func (b bundles) Past(ctx context.Context, tenant string, serial uint64) (bundle.Rollout, error) {
	if serial > math.MaxInt64 {
		return bundle.Rollout{}, fmt.Errorf("rollout %d: %w", serial, bundle.ErrNone)
	}
	r, err := b.rollout(ctx, tenant, rolledPutSQL, int64(serial))
	if err != nil {
		return bundle.Rollout{}, fmt.Errorf("rollout %d: %w", serial, err)
	}
	return r, nil
}

func (b bundles) rollout(ctx context.Context, tenant, sql string, args ...any) (bundle.Rollout, error) {
	var body []byte
	if err := b.read(ctx, tenant, sql, []any{&body}, args...); err != nil {
		return bundle.Rollout{}, err
	}
	r, err := bundle.DecodeRollout(body)
	if err == nil && r.Tenant != tenant {
		err = fmt.Errorf("%w: it is another tenant's", bundle.ErrRollout)
	}
	return r, err
}

// add inserts one row of a tenant. It fails with a conflict if the number is taken or not the next.
func (b bundles) add(ctx context.Context, tenant, sql string, args ...any) error {
	if b.closed() {
		return journal.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := b.databases[0]
	ctx, cancel := s.Begun(ctx)
	defer cancel()
	err := s.Write(ctx, func(c *pgx.Conn) error {
		if err := postgres.ActsAs(ctx, c, postgres.TenantList(tenant)); err != nil {
			return err
		}
		_, err := c.Exec(ctx, sql, append([]any{[]byte(tenant)}, args...)...)
		return err
	})
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "23505" {
		return bundle.ErrConflict
	}
	return err
}

func (b bundles) read(ctx context.Context, tenant, sql string, into []any, args ...any) error {
	if b.closed() {
		return journal.ErrClosed
	}
	err := b.databases[0].Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, sql, append([]any{[]byte(tenant)}, args...)...).Scan(into...)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return bundle.ErrNone
	}
	return err
}
