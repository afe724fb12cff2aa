package setup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/service/daemon"
	"github.com/floodmark/floodmark/internal/service/heap"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/prove"
)

// NewServe is the command «floodmark serve».
func NewServe(c *cli.Console) *cobra.Command {
	var o serveFlags
	cmd := &cobra.Command{
		Use:    "serve",
		Hidden: true, // service managers and hooks start it; people use «floodmark up»
		Short:  "Run the monitor",
		Long: `Run the monitor until it is stopped. Agents report to hook.sock; the owner asks
and answers over owner.sock. Every answer is written to the journal before it is
given, so a stopped monitor forgets nothing.

Nothing else need be installed: without service.yaml the journal is one SQLite
file and nothing listens on the network.`,
		Example: `  floodmark serve
  floodmark serve --dir ./try
  floodmark serve --journal postgres://floodmark@db.example/floodmark`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), c, o) },
	}
	flags := cmd.Flags()
	cli.AddPlace(cmd, &o.Place)
	flags.StringVar(&o.policy, "policy", "", "the policy `FILE` instead of the usual one")
	flags.StringVar(&o.journal, "journal", "", "keep the journal in PostgreSQL at this `URL`")
	flags.BoolVar(&o.verbose, "verbose", false, "say more on standard error")
	return cmd
}

type serveFlags struct {
	cli.Place
	policy, journal string
	verbose         bool
}

func serve(ctx context.Context, c *cli.Console, f serveFlags) error {
	paths, err := c.Paths(f.Place)
	if err != nil {
		return err
	}
	if f.policy != "" {
		paths.Policy = c.Path(f.policy)
		// The default file may be missing, but a file named by a flag must exist.
		if _, err := os.Stat(paths.Policy); err != nil {
			return cli.Unreadable(f.policy, err)
		}
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return cli.Refuse("mend the file, or move it away to run with nothing but defaults", "%s", err)
	}
	if f.journal != "" {
		service.Journal.Store, service.Journal.Shards = f.journal, nil
	}
	users, err := config.UserNumbers(service.Owners)
	if err != nil {
		return cli.Refuse("check owners in service.yaml", "%s", err)
	}
	level := slog.LevelInfo
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: level}))
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	heap.TuneMonitor(c.Getenv)
	d, err := daemon.Open(ctx, daemon.Options{
		Paths: paths, Service: service, Version: c.Build.Line(), System: f.System, Users: users, Log: log, Now: clock(), Fault: fault(), LogBytes: faultLogBytes(),
		SelfCheck: selfCheck(c, f.Place, paths), Agents: FleetAgents(c, f.Place), FleetEvery: fleetEvery(), Box: filepath.Join(filepath.Dir(c.Program), cli.BoxName),
		Ready: func() { c.Say("floodmark answers on %s", paths.HookSocket) },
	})
	if err != nil {
		return cannotServe(err)
	}
	if err := d.Run(ctx); err != nil {
		return cli.Refuse("look at what was said above; the journal is as it was", "the monitor stopped: %s", err)
	}
	c.Say("floodmark stopped")
	return nil
}

// selfCheck returns the monitor's daily check; nil in system mode.
func selfCheck(c *cli.Console, p cli.Place, paths config.Paths) func(context.Context, time.Time) ([]floodmark.IncidentSeen, error) {
	if p.System || c.Program == "" {
		return nil
	}
	daily := prove.Daily{
		Proofs: paths.Proofs, Checked: paths.Checked, Records: paths.Originals,
		Hook: filepath.Join(filepath.Dir(c.Program), cli.HookName),
	}
	return func(ctx context.Context, now time.Time) (list []floodmark.IncidentSeen, err error) {
		found, err := daily.Step(ctx, now)
		for _, f := range found {
			list = append(list, floodmark.IncidentSeen{Kind: f.Kind, Text: f.Why})
		}
		return list, err
	}
}

// cannotServe returns why the monitor did not start.
func cannotServe(err error) error {
	if problems, ok := errors.AsType[floodmark.Problems](err); ok {
		return cli.Refuse("mend the policy: «floodmark policy check» shows each place", "the policy is wrong, and without one nothing would be allowed:\n%s", problems)
	}
	return cli.Refuse("nothing was changed; mend this and start again", "the monitor did not start: %s", err)
}
