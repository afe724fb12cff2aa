package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgresjournal"
)

type initFlags struct {
	cli.Place
	journal, user string
	roles, print  bool
}

func newJournalInit(c *cli.Console) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Prepare databases for the journal of a fleet",
		Long: `Make the tables of the journal in PostgreSQL, or bring them up to date, and record
which shards each database holds. The databases are those of service.yaml, or the
one that --journal names. Doing it again does no harm, also while monitors run.

With --roles it makes four roles and moves the tables to the first: floodmark_owner
changes tables, floodmark_writer adds facts and reads them, floodmark_eraser may
also erase sessions, floodmark_reader reads. None of them can log in: grant them to
those that can. A monitor that is only a writer cannot change or delete a fact,
and does not bring tables up to date: run this command before a new version.

Connect as a database user who may create schemas and, with --roles, roles: name it
with --user. Passwords come from PGPASSWORD or ~/.pgpass. With --print nothing is done:
the SQL for the roles is printed, for a user who may run it.`,
		Example: `  floodmark journal init --journal postgres://postgres@db.example/floodmark --roles
  floodmark journal init --user postgres --roles
  floodmark journal init --print`,
		Annotations: cli.Exits("the databases are ready", "a database refused"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return journalInit(cmd.Context(), c, f, cli.Format(cmd) == cli.AsJSON)
		}),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.journal, "journal", "", "the database at this `URL` instead of those in service.yaml")
	cmd.Flags().StringVar(&f.user, "user", "", "connect as this `NAME` instead of the one in the URLs")
	cmd.Flags().BoolVar(&f.roles, "roles", false, "make the roles, too")
	cmd.Flags().BoolVar(&f.print, "print", false, "print the SQL that makes the roles, and do nothing")
	return cmd
}

func journalInit(ctx context.Context, c *cli.Console, f initFlags, json bool) error {
	if f.print {
		_, err := fmt.Fprint(c.Stdout, postgresjournal.RolesSQL(""))
		return err
	}
	ranges, err := ranges(c, f)
	if err != nil {
		return err
	}
	if err := postgresjournal.Init(ctx, ranges, postgresjournal.Options{}, f.roles); err != nil {
		return unprepared(err, "connect as a user who may create schemas and roles: --user")
	}
	if json {
		return c.JSON(map[string]any{"databases": len(ranges), "roles": f.roles})
	}
	c.Say("%s ready", cli.Count(len(ranges), "database is", "databases are"))
	if f.roles {
		r := postgresjournal.RolesOf("")
		c.Say("let the monitor's login write, and erase if it should: GRANT %s, %s TO …", r.Writer, r.Eraser)
	}
	return nil
}

// unprepared turns a database's error into a failure on one line. hint is used unless the error has
// a better one.
func unprepared(err error, hint string) error {
	text, better := postgres.Unreached(err)
	return cli.Refuse(cmp.Or(better, hint), "%s", text)
}

// ranges returns the databases that a command is about, with the user who connects.
func ranges(c *cli.Console, f initFlags) ([]postgresjournal.Range, error) {
	databases, err := databases(c, f)
	if err != nil {
		return nil, err
	}
	var ranges []postgresjournal.Range
	for _, d := range databases {
		dsn := d.Store
		if f.user != "" {
			if dsn, err = asUser(dsn, f.user); err != nil {
				return nil, cli.Refuse("write postgres://user@host/database", "%s", err)
			}
		}
		ranges = append(ranges, postgresjournal.Range{DSN: dsn, First: d.From, Last: d.To})
	}
	return ranges, nil
}

// databases returns the databases that a command is about.
func databases(c *cli.Console, f initFlags) ([]config.Shard, error) {
	paths, err := c.Paths(f.Place)
	if err != nil {
		return nil, err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return nil, cli.Refuse("mend the file", "%s", err)
	}
	if f.journal != "" {
		service = config.Service{Journal: config.Journal{Store: f.journal}}
	}
	databases := service.Journal.Databases()
	if len(databases) == 0 {
		return nil, cli.Refuse("name the database: --journal postgres://user@host/database", "the journal is a file on this machine, and this is about one in PostgreSQL")
	}
	return databases, nil
}

// asUser replaces the user who logs in, and removes the other user's password.
func asUser(dsn, user string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return "", errors.New("this is not the URL of a database")
	}
	u.User = url.User(user)
	if q := u.Query(); q.Has("user") || q.Has("password") {
		q.Del("user")
		q.Del("password")
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}
