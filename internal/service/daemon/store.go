package daemon

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/keyring"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/postgresjournal"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/internal/store/witness"
	"github.com/floodmark/floodmark/journal"
)

// A store is a journal and its description for status.
type store struct {
	journal.Journal
	engine, place string
	fault         func(string)
}

// askedBefore is the age from which a question in the journal is told to watchers as another node's.
// By then this node has told them of its own questions.
const askedBefore = 2 * time.Second

// lookOutEvery is the time between two looks at what other nodes asked.
const lookOutEvery = 3 * time.Second

// headFolder is the folder of signed heads.
type headFolder = *witness.Folder

// openStore opens the journal, then the folder of its signed heads.
func (d *Daemon) openStore(ctx context.Context) error {
	var err error
	if in := d.opts.Service.Journal; in.InDatabase() {
		d.store, err = openPostgres(ctx, in.Databases())
	} else {
		d.store, err = openSQLite(ctx, d.opts)
	}
	if err != nil {
		return err
	}
	d.store.fault = d.opts.Fault
	d.closers = append(d.closers, d.store.Close)
	dir := d.opts.Service.Journal.Witness
	if dir == "" {
		dir = d.opts.Paths.Witness
	}
	if d.witness, err = witness.Open(dir); err != nil {
		return err
	}
	d.closers = append(d.closers, d.witness.Close)
	apart, err := d.apart(dir)
	if err != nil {
		return err
	}
	evidence := journal.Evidence{Log: d.witness, Keys: d.keys.Signing.Verifiers(), Apart: apart}
	d.proof = &proof{
		journal: d.store, evidence: evidence, now: d.opts.Now, log: d.opts.Log, fault: d.opts.Fault,
		every:      orElse(time.Duration(d.opts.Service.Journal.Checkpoint), checkpointEvery),
		checkpoint: &journal.Checkpointer{Journal: d.store, Log: watchedHeads{d.witness, d.opts.Fault}, Key: d.keys.Signing},
		retention: &journal.Retention{
			Journal: d.store, Signer: d.keys.Signing.Signer, Keep: time.Duration(d.opts.Service.Journal.Keep),
			Mark: func(ctx context.Context, s journal.Session, at journal.Link) (floodmark.Label, error) {
				return d.monitor.MarkAt(ctx, s, at) // opened after the store
			},
			Spare: func(s journal.Session) bool { return d.joined.Needs(s) },
		},
	}
	if j, ok := d.store.Journal.(*postgresjournal.Journal); ok {
		d.proof.tidy = j.Tidy
		d.openNodes(j)
		d.elsewhere = func(ctx context.Context, tenant string, from time.Duration) ([]journal.Head, error) {
			return j.AskedAt(ctx, tenant, from, askedBefore)
		}
		d.rings = keyring.New(d.keys, d.opts.Service, j, d.tenantRefused)
		return d.rings.Agree(ctx)
	}
	d.rings = keyring.New(d.keys, d.opts.Service, nil, d.tenantRefused)
	return d.keys.CheckAlone()
}

// tenantRefused notes that a tenant is refused here.
func (d *Daemon) tenantRefused(tenant string, why error) {
	d.opts.Log.Error("a tenant is refused", "tenant", tenant, "error", why)
	d.notes.add("", "other-key", why.Error(), d.opts.Now())
}

// apart reports whether no user that agents run as can change the signed heads.
func (d *Daemon) apart(dir string) (bool, error) {
	if !d.opts.System {
		return witness.Apart(dir, os.Getuid())
	}
	for _, uid := range d.opts.Users {
		if apart, err := witness.Apart(dir, uid); err != nil || !apart {
			return false, err
		}
	}
	return len(d.opts.Users) > 0, nil
}

func openSQLite(ctx context.Context, o Options) (store, error) {
	dir := filepath.Dir(o.Paths.Journal)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return store{}, fmt.Errorf("make the folder of the journal: %w", err)
	}
	j, err := sqlitejournal.OpenWhole(ctx, o.Paths.Journal, sqlitejournal.Options{Fault: o.Fault, LogBytes: o.LogBytes})
	if err != nil {
		return store{}, err
	}
	return store{Journal: j, engine: "sqlite", place: o.Paths.Journal}, nil
}

func openPostgres(ctx context.Context, databases []config.Shard) (store, error) {
	var ranges []postgresjournal.Range
	var places []string
	for _, s := range databases {
		ranges = append(ranges, postgresjournal.Range{DSN: s.Store, First: s.From, Last: s.To})
		place := "postgres"
		if u, err := url.Parse(s.Store); err == nil {
			place = u.Host + u.Path // without user, password and settings
		}
		places = append(places, place)
	}
	j, err := postgresjournal.OpenShards(ctx, ranges, postgresjournal.Options{})
	if err != nil {
		return store{}, err
	}
	return store{Journal: j, engine: "postgres", place: strings.Join(places, ", ")}, nil
}

func orElse(d, usual time.Duration) time.Duration {
	if d <= 0 {
		return usual
	}
	return d
}

// erased checks that a tombstone was signed with a key of this journal.
func (d *Daemon) erased(t journal.Tombstone) error {
	return journal.CheckTombstone(d.proof.evidence.Keys, t)
}
