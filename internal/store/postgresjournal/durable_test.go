package postgresjournal

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// wantNotDurable opens a journal and expects a refusal that names what is wrong.
func wantNotDurable(t *testing.T, dsn, schema, says string) {
	t.Helper()
	j, err := Open(t.Context(), dsn, Options{Schema: schema})
	if err == nil {
		j.Close()
	}
	wantErr(t, err, journal.ErrNotDurable)
	if !strings.Contains(err.Error(), says) {
		t.Errorf("%q does not say %q", err, says)
	}
}

func TestSettingsOfTheConnectionAreRefused(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	for _, level := range []string{"off", "local", "remote_write"} {
		wantNotDurable(t, dsn+" options='-c synchronous_commit="+level+"'", schema, "synchronous_commit is "+level)
	}
	wantNotDurable(t, dsn+" options='-c default_transaction_read_only=on'", schema, "takes writes")
	wantNotDurable(t, dsn+" target_session_attrs=any options='-c default_transaction_read_only=on'", schema, "takes writes")
	for _, level := range []string{"on", "remote_apply"} {
		open(t, dsn+" options='-c synchronous_commit="+level+"'", Options{Schema: schema})
	}
}

func TestUnloggedTablesAreRefused(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	open(t, dsn, Options{Schema: schema}).Close()
	c := postgrestest.Connect(t, dsn)
	if _, err := c.Exec(t.Context(), "ALTER TABLE "+schema+".contents SET UNLOGGED"); err != nil {
		t.Fatal(err)
	}
	wantNotDurable(t, dsn, schema, "unlogged: contents")
}

func TestDSNIsNotShown(t *testing.T) {
	for _, dsn := range []string{"postgres://anna:hunter2@[/x", "host=/nowhere.example user=anna password=hunter2 port=x", "host=/nowhere.example user=anna password=hunter2"} {
		_, err := Open(t.Context(), dsn, Options{})
		if err == nil {
			t.Fatal("opened")
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q shows the password", err)
		}
	}
}

func TestOptionsHaveLimits(t *testing.T) {
	for _, o := range []Options{{Writers: MaxConnections}, {Readers: MaxConnections}, {Queue: MaxQueue}, {Timeout: MaxTimeout}, {Schema: strings.Repeat("x", maxSchemaBytes)}} {
		if _, err := o.check(); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []Options{
		{Writers: MaxConnections + 1},
		{Readers: MaxConnections + 1},
		{Queue: MaxQueue + 1},
		{Timeout: MaxTimeout + 1},
		{Schema: strings.Repeat("x", maxSchemaBytes+1)},
		{Writers: -1},
		{Readers: -1},
		{Queue: -1},
		{Timeout: -1},
	} {
		if _, err := o.check(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
