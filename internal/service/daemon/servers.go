package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"

	"connectrpc.com/connect"
	"github.com/google/uuid"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/agents/speakers"
	"github.com/floodmark/floodmark/internal/ask/presence"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/localsocket"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/wire"
)

// A server serves one socket or network address.
type server struct {
	name  string
	serve func(context.Context) error
	stop  func(context.Context) error
}

// The modes of the sockets. In system mode agents of other users reach the hook socket. Only the
// daemon's own user and root reach the owner's socket.
const (
	hookMode       os.FileMode = 0o600
	hookModeSystem os.FileMode = 0o666
	ownerMode      os.FileMode = 0o600
)

func (d *Daemon) listen(ctx context.Context) error {
	mode := hookMode
	if d.opts.System {
		mode = hookModeSystem
	}
	var err error
	if d.hooks, err = localsocket.Listen(ctx, d.opts.Paths.HookSocket, mode); err != nil {
		return err
	}
	d.hooks = hookframe.Bound(d.hooks, hookframe.MaxConnections, processAt)
	d.closers = append(d.closers, closed(d.hooks))
	if d.owners, err = localsocket.Listen(ctx, d.opts.Paths.OwnerSocket, ownerMode); err != nil {
		return err
	}
	d.owners = hookframe.Bound(d.owners, hookframe.MaxConnections, processAt)
	d.closers = append(d.closers, closed(d.owners))
	return d.listenNetwork(ctx)
}

// processAt returns the process at the other end of a connection; zero if the system does not name
// it.
func processAt(c net.Conn) int {
	pid, _, err := peer.Of(peer.Unwrap(c))
	if err != nil {
		return 0
	}
	return pid
}

// closed closes a listener that may be closed already.
func closed(l net.Listener) func() error {
	return func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

func (d *Daemon) servers() []server {
	frames, plain := hookframe.Split(d.hooks)
	budget := hookframe.NewBudget(hookframe.MaxInFlight)
	options := httpapi.Options{Refused: d.refused, Failed: d.failed, Budget: budget, Share: d.shares(budget)}
	desk := d.ownerDesk()
	d.console = d.newConsole(desk, options)
	return append(append([]server{
		{"hook.sock", func(ctx context.Context) error {
			return hookframe.ServeAll(hookframe.WithBudget(ctx, budget), frames, d.frameHandler, d.unanswered)
		}, func(context.Context) error { return frames.Close() }},
		localServer("hook.sock (HTTP)", plain, d.atHookDoor(httpapi.NewHookHandler(d.pushes, options)), d.hookConn),
		localServer("owner.sock", d.owners, d.atOwnerDoor(d.ownerHandler(desk, options)), d.ownerConn),
		{"console", d.console.Run, d.console.Stop},
	}, d.networkServers(options, desk)...), append(d.networkConsoleServers(desk, options), d.metricsServers()...)...)
}

// ownerHandler serves the owner's requests.
func (d *Daemon) ownerHandler(desk httpapi.Owner, o httpapi.Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/"+wire.MachineServiceName+"/", httpapi.NewMachineHandler(d.fleetDesk(), o))
	mux.Handle("/"+wire.ConsoleServiceName+"/", httpapi.NewConsoleHandler(d.pages, o))
	mux.Handle("/", httpapi.NewOwnerHandler(desk, o))
	return mux
}

// localServer serves a local socket; conn adds the caller to the context.
func localServer(name string, l net.Listener, h http.Handler, conn func(context.Context, net.Conn) context.Context) server {
	s := httpapi.NewServer(h)
	s.ConnContext = conn
	return serverOf(name, l, s)
}

// unanswered logs why a hook got no answer, or only that it was not understood.
func (d *Daemon) unanswered(err error) { d.opts.Log.Debug("a hook got no answer", "error", err) }

// frameHandler answers one hook. From now on the process that started the hook is guarded as an
// agent.
func (d *Daemon) frameHandler(conn net.Conn) hookframe.Handler {
	return func(ctx context.Context, req hookframe.Request) (answer hookframe.Response) {
		defer func() {
			if recover() != nil { // the panic's text may hold content
				answer = hookframe.Refuse("a fault of the monitor, so nothing is allowed.")
				d.opts.Log.Error("answering a hook panicked")
			}
		}()
		p, err := d.reporter(conn, peer.Of)
		if err != nil {
			return hookframe.Refuse(err.Error())
		}
		s := speakers.Speaker{Peer: p, Local: true, Framed: true}
		switch {
		case p.PID == 0:
		case agents.HasProgram(req.Agent):
			s.Agent = req.Agent
			d.guarded.Note(req.Agent, p)
		default:
			d.guarded.NoteItself(p)
		}
		return d.door.Answer(speakers.With(ctx, s), req)
	}
}

// reporter returns the process that reports. It returns the zero Peer if the process has ended by
// now, or if the system does not name it. In system mode, however, every user can reach the socket,
// so a process that the system does not name is refused: its user is unknown, too.
func (d *Daemon) reporter(conn net.Conn, of func(net.Conn) (pid, uid int, err error)) (peer.Peer, error) {
	pid, uid, err := of(peer.Unwrap(conn))
	if err != nil && d.opts.System {
		return peer.Peer{}, fmt.Errorf("only known users may report here: %w", err)
	}
	if err != nil {
		return peer.Peer{}, nil //nolint:nilerr // said above
	}
	users := append(slices.Clone(d.opts.Users), d.gate.Users...)
	if !slices.Contains(users, uid) {
		return peer.Peer{}, fmt.Errorf("user %d may not report here; the owner of this monitor must list that user", uid)
	}
	p, err := peer.Trace(d.table, pid)
	if err != nil {
		return peer.Peer{}, nil //nolint:nilerr // said above
	}
	return p, nil
}

// hookConn identifies the caller at the hook socket, for agents that speak HTTP themselves.
func (d *Daemon) hookConn(ctx context.Context, conn net.Conn) context.Context {
	p, err := d.reporter(conn, peer.Of)
	if err != nil {
		return ctx // no caller: every call is refused
	}
	if p.PID != 0 {
		d.guarded.NoteItself(p)
	}
	ctx = speakers.With(ctx, speakers.Speaker{Peer: p, Local: true})
	return httpapi.WithIdentity(ctx, httpapi.Identity{Name: place(p.PID), Channel: "hook.sock", May: httpapi.MayEvents})
}

// atHookDoor admits events. It refuses any other request and records an incident, because agents may
// not make such requests.
func (d *Daemon) atHookDoor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.HookServiceHandleProcedure {
			who := httpapi.IdentityOf(r.Context()).Name
			d.incident(r.Context(), "not-permitted", fmt.Sprintf("%.100q was tried at hook.sock by %s", r.URL.Path, who))
			turnAway(w, r, "hook.sock takes events and nothing else; the owner speaks at owner.sock")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// turnAway refuses in the caller's own protocol, so that a person reads why.
func turnAway(w http.ResponseWriter, r *http.Request, why string) {
	errors := connect.NewErrorWriter()
	if errors.IsSupported(r) {
		_ = errors.Write(w, r, connect.NewError(connect.CodePermissionDenied, fmt.Errorf("refused: %s", why))) // the client may be gone
		return
	}
	http.Error(w, "refused: "+why, http.StatusForbidden)
}

// ownerConn identifies the caller at the owner's socket.
func (d *Daemon) ownerConn(ctx context.Context, conn net.Conn) context.Context {
	return peer.WithCaller(ctx, d.gate.Judge(conn))
}

// atOwnerDoor admits the owner. It judges the caller again at every request.
func (d *Daemon) atOwnerDoor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := d.gate.Still(peer.CallerOf(r.Context()))
		if !c.Owner() {
			d.incident(r.Context(), c.Kind, fmt.Sprintf("%.100q was tried at owner.sock by %s: %s", r.URL.Path, c.Line(), c.Why))
			turnAway(w, r, c.Why)
			return
		}
		ctx := httpapi.WithIdentity(r.Context(), httpapi.Identity{
			Name: fmt.Sprintf("user %d", c.UID), Channel: "owner.sock", May: httpapi.OwnerMay,
		})
		if c.Terminal {
			ctx = httpapi.AtTerminal(ctx)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refused records a call that its caller may not make.
func (d *Daemon) refused(who httpapi.Identity, method, remote string) {
	name := who.Name
	if name == "" {
		name = "an unknown caller"
	}
	d.incident(context.Background(), "not-permitted", fmt.Sprintf("%s (%s, %s) tried %s", name, who.Channel, remote, method))
}

func (d *Daemon) failed(method string, err error) {
	d.opts.Log.Error("a call failed", "method", method, "error", err)
}

// openSpeakers opens the checks that depend on which process sent an event or a request.
func (d *Daemon) openSpeakers() {
	d.guarded = peer.NewGuarded(d.table)
	d.gate = &peer.Gate{Table: d.table, Guarded: d.guarded, Users: peer.Owners(), Of: peer.Of}
	o := speakers.Options{
		Hooks: watchedHooks{d.monitor, d.opts.Fault, d.enter}, Monitor: d.monitor, Marks: d.marks,
		Table: d.table, Ticks: peer.Now, Guarded: d.guarded, Now: d.opts.Now,
		Native: d.opts.Service.Native(), Elicits: d.opts.Service.Elicits(),
		Await: d.presence().Await, Routed: d.anyRouted, Incident: d.incident,
	}
	if d.opts.processes != nil {
		d.opts.processes(&o)
	}
	d.speakers = speakers.Open(o)
}

// presence tells where people are asked; watchers at other nodes are not known here.
func (d *Daemon) presence() presence.Presence {
	return presence.Presence{
		There:     []func() bool{d.hub.Watched, d.desktop.There, func() bool { return d.ready.look != nil || d.opts.Service.Telegram != nil }},
		Questions: d.monitor.Await, Settings: func(agent string) policy.Settings { return d.live.Rules().Policy.Settings(agent) },
	}
}

// inWindow applies what the owner answered in an agent's own window.
func (d *Daemon) inWindow(ctx context.Context, s journal.Session, t floodmark.TicketID, v floodmark.Verdict, channel string) error {
	cmd := approval.Command{Verb: approval.Deny, Tool: approval.All, Ticket: t, By: "no one there", Channel: channel}
	if v == floodmark.Allow {
		cmd.Verb, cmd.By = approval.Approve, "owner"
	}
	_, err := d.monitor.Answer(ctx, s, cmd)
	return err
}

// newCode draws a code that cannot be guessed.
func newCode() string {
	var b [4]byte
	rand.Read(b[:]) // cannot fail: it ends the program instead
	return hex.EncodeToString(b[:])
}

func newTicket() floodmark.TicketID { return floodmark.TicketID("t-" + uuid.NewString()[:13]) }
