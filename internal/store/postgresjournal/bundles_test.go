package postgresjournal

import (
	"errors"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func TestBundles(t *testing.T) {
	dsn := postgrestest.DSN(t)
	var schema string
	again := func(t *testing.T) bundle.Store {
		return open(t, dsn, Options{Schema: schema, Timeout: busyTimeout}).Bundles()
	}
	bundletest.Run(t, func(t *testing.T) bundle.Store {
		schema = postgrestest.Schema(t, dsn)
		return again(t)
	}, again)
}

// The same suite for a monitor with the least rights it needs.
func TestBundlesWithRoles(t *testing.T) {
	var g guarded
	again := func(t *testing.T) bundle.Store {
		return open(t, g.writer, Options{Schema: g.schema, Timeout: busyTimeout}).Bundles()
	}
	bundletest.Run(t, func(t *testing.T) bundle.Store {
		g = newGuarded(t, newSchema(t))
		return again(t)
	}, again)
}

// A database login cannot change what was published, skip a number, or see or add rows of another
// tenant.
func TestBundlesCannotBeChanged(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	store := open(t, g.writer, Options{Schema: g.schema}).Bundles()
	for _, tenant := range []string{"acme", "beta"} {
		if err := errors.Join(store.Publish(t.Context(), bundletest.Sealed(t, bundletest.Bundle(tenant, 1))), store.Roll(t.Context(), bundletest.Rollout(tenant, 1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader, "owner": g.owner, "superuser": postgrestest.DSN(t)} {
		c := g.as(t, dsn, "acme")
		for _, table := range []string{"bundles", "rollouts"} {
			for _, sql := range []string{"UPDATE " + table + " SET at = now()", "DELETE FROM " + table, "TRUNCATE " + table} {
				if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
					t.Errorf("%s: %s: %v", who, sql, err)
				}
			}
		}
	}
	c := g.as(t, g.writer, "acme")
	for _, sql := range []string{
		"INSERT INTO bundles (tenant, version, sealed) VALUES ('beta', 1, 'x')", "INSERT INTO rollouts (tenant, serial, body) VALUES ('beta', 1, '{}')",
	} {
		if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"INSERT INTO bundles (tenant, version, sealed) VALUES ('acme', 3, 'x')", "INSERT INTO rollouts (tenant, serial, body) VALUES ('acme', 9, '{}')",
	} {
		if _, err := c.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "does not follow") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	floor := bundletest.Rollout("acme", 2, 5)
	floor.Floor = 5
	if err := store.Roll(t.Context(), floor); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), `INSERT INTO rollouts (tenant, serial, body) VALUES ('acme', 3, '{"floor":4}')`); !postgres.IsDenied(err) {
		t.Errorf("the floor sank: %v", err)
	}
	for table, want := range map[string]int{"bundles": 1, "rollouts": 2} {
		if n := postgrestest.Query[int](t, c, "SELECT count(*) FROM "+table); n != want {
			t.Errorf("%s: acme sees %d rows", table, n)
		}
	}
	// A row inserted by hand is not accepted as a rollout.
	if _, err := c.Exec(t.Context(), `INSERT INTO rollouts (tenant, serial, body) VALUES ('acme', 3, '{"tenant":"beta","floor":5,"serial":3,"by":"x","at":"2026-05-04T12:00:00Z","stable":6,"next":0,"share":0}')`); err != nil {
		t.Fatal(err)
	}
	if r, err := store.Now(t.Context(), "acme"); !errors.Is(err, bundle.ErrRollout) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBundlesAfterTheEnd(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Schema: postgrestest.Schema(t, postgrestest.DSN(t))})
	store := j.Bundles()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Now(t.Context(), "acme"); !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
	if err := store.Roll(t.Context(), bundletest.Rollout("acme", 1, 1)); !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
}
