// Package daemon builds the service out of its parts by plain calls and runs it: the journal, the
// monitor, the sockets, and the checks on them. Only this package imports all of them.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/agents/speakers"
	"github.com/floodmark/floodmark/internal/ask/auditor"
	"github.com/floodmark/floodmark/internal/ask/desktop"
	"github.com/floodmark/floodmark/internal/ask/lasting"
	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/box/contain"
	"github.com/floodmark/floodmark/internal/box/pushdoor"
	"github.com/floodmark/floodmark/internal/console"
	"github.com/floodmark/floodmark/internal/fleet/keyring"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/membership"
	"github.com/floodmark/floodmark/internal/fleet/quota"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/rules/signedrules"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/service/telemetry"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/verify"
	"github.com/floodmark/floodmark/wire"
)

// Options are what a daemon is started with.
type Options struct {
	Paths   config.Paths
	Service config.Service
	Version string
	// System says that the daemon has a user of its own; Users are then the users who may report
	// events.
	System bool
	Users  []int
	Log    *slog.Logger
	Now    func() time.Time
	// Fault is called at named points; tests use it to end the process there.
	Fault func(point string)
	// Box is the path of floodmark-box; if empty, commands run in no box.
	Box string
	// LogBytes is the limit on SQLite's log; zero for the default.
	LogBytes int
	// SelfCheck, unless nil, checks once a day whether the agents are still connected. It is called
	// more often, and decides itself what is due.
	SelfCheck func(ctx context.Context, now time.Time) ([]floodmark.IncidentSeen, error)
	// Ready, unless nil, is called once events are answered.
	Ready func()
	// Agents tells a fleet which agents are here; nil: none. FleetEvery is the time between two
	// contacts with it; zero for the default.
	Agents     func(ctx context.Context) []*wire.MachineAgent
	FleetEvery time.Duration
	// NodesEvery is the time between two comparisons with other nodes; zero for the default.
	NodesEvery time.Duration
	// Machines keeps laptops that join; nil for the journal's own book, which a journal in a file
	// does not have.
	Machines machines.Book
	// processes, unless nil, changes where speakers are looked up; tests set it.
	processes func(*speakers.Options)
	// reader reads all rules; nil for a new one. Daemons that share a reader read the shipped rules
	// once.
	reader *config.Reader
	// wait waits between two rounds of the named loop, and returns false if ctx ended; nil for a
	// timer. Tests set it to run each round themselves.
	wait func(ctx context.Context, loop string, d time.Duration) bool
}

// A Daemon is a running service.
type Daemon struct {
	opts    Options
	keys    config.Keys
	started time.Time
	reader  *config.Reader // of all rules
	live    *liverules.Live
	gates   verify.Gates // of service.yaml, as the rules have them
	// bundles is the store of signed rules, and signed says which of them are in effect. Both are
	// nil if all tenants are judged by policy.yaml.
	bundles bundle.Store
	signed  *signedrules.Book
	store   store
	witness headFolder
	monitor *monitor.Monitor
	proof   *proof
	desk    *desk
	hub     *owner.Hub
	// elsewhere lists questions opened by other nodes; nil on a single node.
	elsewhere owner.Elsewhere
	gate      *peer.Gate
	ready     *readiness
	table     peer.Table
	guarded   *peer.Guarded
	speakers  *speakers.Door
	marks     *speakers.Marks
	door      agents.Door
	teams     *owner.Teams
	boxes     *contain.Door
	pushes    *pushdoor.Door // the hooks of agents on this machine
	// telemetry and metrics are nil unless service.yaml asks for them.
	telemetry *telemetry.Telemetry
	metrics   net.Listener
	// notes are the warnings that status shows.
	notes *notes
	// approvers carry questions to people. bots are the Telegram bots, and desktop asks on the
	// owner's desktop.
	approvers []approval.Approver
	bots      []*telegram.Bot
	desktop   *desktop.Desktop
	console   *console.Console
	pages     consoleDesk // answers the pages of console
	// saved is the digest of the rules that a person saved in console and that are not in force yet.
	saved   atomic.Pointer[floodmark.Digest]
	auditor *auditor.Auditor // nil: none

	hooks, owners net.Listener
	network       []remote
	// networkConsole and logins are nil without a console on the network.
	networkConsole net.Listener
	logins         *browserDoor
	tokens         *httpapi.Tokens    // of callers on the network; nil without a network
	people         *peopleDoor        // nil without an identity provider
	quotas         *quota.Gate        // nil without tenants
	laptopQuotas   *quota.Gate        // of what laptops send; does not count against agents
	machines       machines.Book      // nil: no laptop can join
	joined         *membership.Laptop // the fleet that this one joined, if any
	closers        []func() error     // in the order of opening

	rings *keyring.Rings
	nodes *otherNodes
}

// incidentTime bounds how long recording one incident may take.
const incidentTime = 5 * time.Second

// Open builds a daemon, which answers nothing before Run. On error it leaves nothing open.
func Open(ctx context.Context, o Options) (_ *Daemon, err error) {
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	if o.wait == nil {
		o.wait = func(ctx context.Context, _ string, d time.Duration) bool { return sleepFor(ctx, d) }
	}
	o.Log = slog.New(telemetry.Redact(o.Log.Handler()))
	d := &Daemon{opts: o, started: o.Now(), table: peer.Local(), notes: &notes{}, reader: cmp.Or(o.reader, config.NewReader())}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	for _, begin := range []func() error{o.Paths.CheckSockets, d.openJoined, d.openRules} {
		if err := begin(); err != nil {
			return nil, err
		}
	}
	if d.keys, err = config.KeysOf(o.Service, o.Paths, "floodmark/journal"); err != nil {
		return nil, err
	}
	if err := d.openStore(ctx); err != nil {
		return nil, err
	}
	d.openMachines()
	if err := d.openTelemetry(ctx); err != nil {
		return nil, err
	}
	o.Fault(pointOpened)
	if err := d.openSigned(ctx); err != nil {
		return nil, err
	}
	if err := d.openMonitor(); err != nil {
		return nil, err
	}
	if err := d.lookBack(ctx); err != nil {
		return nil, err
	}
	o.Fault(pointBeforeListen)
	return d, d.listen(ctx)
}

func (d *Daemon) openMonitor() error {
	d.openQuotas()
	d.desk, d.hub, d.ready, d.marks = newDesk(d.opts.Now), owner.NewHub(), d.newReadiness(), speakers.NewMarks()
	d.desk.routed = d.routed
	d.desktop = desktop.New(desktop.Options{Bus: d.opts.Service.Bus(d.opts.Paths), UID: os.Getuid(), Trusted: func(pid int) bool { return d.guarded.Free(pid) }})
	d.approvers = append(d.approvers, d.desk, groupChannel{d.desktop, d.desktop, func(t approval.Ticket) bool { return !d.routed(t.Tenant, t.Call) }})
	gates, err := d.openVerifiers()
	if err == nil {
		err = errors.Join(d.openTelegram(), d.openAuditor())
	}
	if err != nil {
		return err
	}
	disk, files := d.disk()
	d.monitor, err = monitor.New(monitor.Config{
		Disk: disk, SpillDir: d.opts.Paths.Spill(),
		Journal: d.store, Rules: d.live.Rules, RulesOf: d.rulesOf, Ring: d.rings.Ring,
		Approvers: d.approvers, Erased: d.erased,
		Now: d.opts.Now, NewCode: newCode, NewTicket: newTicket,
		Questions: d.questions, MayAnswer: d.mayAnswer(),
		Observe: d.observe, Auditor: d.auditing(), Verifiers: gates, NewRequest: newRequest,
	})
	if err != nil {
		return err
	}
	d.closers = append(d.closers, d.monitor.Close, d.desktop.Begin(d.monitor.Answer))
	d.openSpeakers()
	d.joined.Attach(d.joinedParts())
	d.boxes, err = contain.Open(contain.Machine{
		Hooks: d.teams.Door(lasting.Open(d.speakers, d.monitor.View, files, d.opts.Paths, d.opts.Now), d.monitor.View), Journal: d.store, View: d.monitor.View, Files: d.monitor.OnFiles, Rules: d.rulesOf,
		Disk: disk, Program: d.opts.Box, Paths: d.opts.Paths, Note: d.note, Now: d.opts.Now, Registries: d.opts.Service.Registries(),
	})
	d.pushes = pushdoor.Open(d.boxes, d.monitor.View, files, d.opts.Paths, d.opts.Now)
	there := d.presence()
	d.door = agents.Door{
		Hooks: d.pushes, Await: there.Await, Patience: there.Patience, Starts: agents.NewStarts(), Doubles: agents.NewDoubles(),
		Native: agents.NewNative(d.opts.Service.Native(), d.inWindow), Rewrites: agents.NewRewrites(), Shown: &agents.Shown{Pending: d.monitor.PendingOf, Answer: d.monitor.Answer, Wrong: d.incident},
	}
	d.door.Native.Picks, d.door.Native.Words = d.picks, d.words
	d.signed.TellTo(d.bundleWrong)
	return err
}

// disk returns the disk that agents work on, if it is this machine's and may be read: agents on the
// network work on other machines, and a daemon with its own user may not look.
func (d *Daemon) disk() (monitor.Disk, *workspace.Disk) {
	if d.opts.Paths.Home == "" || len(d.opts.Service.Listen) > 0 {
		return nil, nil
	}
	d.teams = owner.NewTeams(d.opts.Paths.Teams, d.opts.Paths.Home, d.opts.Now)
	return d.teams.Look(), d.teams.Disk
}

// lookBack detects what happened while the monitor was down: the last daemon was killed, or the
// store is not the one whose heads were signed.
func (d *Daemon) lookBack(ctx context.Context) error {
	last, left, err := readRunning(d.opts.Paths.Running)
	if err != nil {
		return err
	}
	boot := bootID()
	if left {
		kind, text := last.incident(boot)
		d.incident(ctx, kind, text)
	}
	wrong, err := d.proof.probe(ctx)
	if err != nil {
		wrong = err.Error()
	}
	if wrong != "" {
		d.incident(ctx, "store-changed", "the store is not the one whose heads were signed: "+wrong)
	}
	if err := d.joined.LookBack(ctx); err != nil {
		return err
	}
	d.opts.Fault(pointLookedBack)
	return writeRunning(d.opts.Paths.Running, d.started, boot)
}

// incident records an event that should not have been possible, and shows it in status.
func (d *Daemon) incident(ctx context.Context, kind, text string) {
	err := d.note(ctx, journal.Session{ID: monitor.Incidents}, floodmark.IncidentSeen{Kind: kind, Text: text})
	if err != nil {
		d.opts.Log.Error("an incident could not be written down", "kind", kind, "error", err)
	}
}

// note counts an incident in a session and records it.
func (d *Daemon) note(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error {
	if !d.notes.add(s.Tenant, seen.Kind, seen.Text, d.opts.Now()) && seen.Kind != contain.NotUsed {
		return nil // frequent: counted, and recorded now and then
	}
	return d.writeDown(ctx, s, seen)
}

// ofOwner counts and records what an owner does, who acts on what is recorded: no record is left out.
// A tenant that does too much at once is refused, so that it does not fill the disk of all.
func (d *Daemon) ofOwner(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error {
	if !d.notes.add(s.Tenant, seen.Kind, seen.Text, d.opts.Now()) && s.Tenant != "" {
		return &monitor.Refusal{Reason: "too much of this was recorded at once", Hint: "What was recorded is not lost: repeat the rest in some minutes.", Err: monitor.ErrBusy}
	}
	return d.writeDown(ctx, s, seen)
}

// writeDown records an incident, however frequent its kind is.
func (d *Daemon) writeDown(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error {
	d.opts.Log.Warn("incident", "kind", seen.Kind, "text", seen.Text)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), incidentTime)
	defer cancel()
	return d.monitor.Note(ctx, s, seen)
}

// Run answers until ctx ends, then finishes the requests in flight and closes everything.
func (d *Daemon) Run(ctx context.Context) error {
	var work sync.WaitGroup
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	beside, halt := context.WithCancel(context.WithoutCancel(ctx))
	defer halt()
	failed := make(chan error, 8)
	begin := func(name string, f func(context.Context) error, ctx context.Context) {
		work.Go(func() {
			if err := f(ctx); err != nil {
				select {
				case failed <- fmt.Errorf("%s: %w", name, err):
				default:
				}
			}
		})
	}
	servers := d.servers()
	for _, s := range servers {
		begin(s.name, s.serve, serving)
	}
	begin("watch the policy", func(ctx context.Context) error { return d.live.Watch(ctx, d.opts.Log) }, beside)
	begin("look for bundles", d.signed.Run, beside)
	begin("sign the journal", d.proof.run, beside)
	for _, bot := range d.bots {
		begin("talk to Telegram", bot.Run, beside)
	}
	begin("watch the journal", d.ready.run, beside)
	begin("compare keys", d.rings.Watch, beside)
	begin("look at other nodes", d.lookAtNodes, beside)
	begin("check the agents", d.selfChecks, beside)
	begin("end pauses", func(ctx context.Context) error { return d.endPauses(ctx, d.ownerDesk()) }, beside)
	begin("ask again", d.askAgain, beside)
	if err := d.joined.Begin(beside); err != nil {
		d.opts.Log.Error("the fleet is not reached", "error", err)
	}
	d.tell(sd.SdNotifyReady)
	if d.opts.Ready != nil {
		d.opts.Ready()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	d.tell(sd.SdNotifyStopping)
	d.ready.end()
	d.opts.Fault(pointStop)
	d.stop(servers)
	stop()
	halt()
	d.joined.End()
	work.Wait()
	select {
	case more := <-failed:
		err = errors.Join(err, more)
	default:
	}
	return errors.Join(err, d.end())
}

// stopTime bounds how long requests in flight may take at the end.
const stopTime = 10 * time.Second

func (d *Daemon) stop(servers []server) {
	d.hub.Close() // a watcher would keep its server open
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	for _, s := range servers {
		if err := s.stop(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			d.opts.Log.Warn("stop "+s.name, "error", err)
		}
	}
}

// end closes everything and removes the note of this run, so that the next start finds none.
func (d *Daemon) end() error {
	if err := d.close(); err != nil {
		return err
	}
	d.opts.Fault(pointClosed)
	return os.Remove(d.opts.Paths.Running)
}

// close closes what is open, the last opened first.
func (d *Daemon) close() error {
	var errs []error
	for _, let := range slices.Backward(d.closers) {
		errs = append(errs, let())
	}
	d.closers = nil
	return errors.Join(errs...)
}

// tell notifies the service manager, if there is one.
func (d *Daemon) tell(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		d.opts.Log.Debug("tell the service manager", "error", err)
	}
}
