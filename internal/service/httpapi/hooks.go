package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Hooks judges events. [monitor.Monitor] implements it.
type Hooks interface {
	// Handle answers one event of a tenant's agent. With an error nothing is allowed, and the reply
	// is ignored.
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// NewHookHandler serves the HookService. The caller must be in the request's context; see
// [WithIdentity].
func NewHookHandler(h Hooks, o Options) http.Handler {
	s := hookService{hooks: h, opts: o}
	service := wire.File_floodmark_v1_hook_proto.Services().ByName("HookService")
	return &guard{
		next:    connect.NewUnaryHandlerSimple(wire.HookServiceHandleProcedure, s.handle, codecs()),
		methods: methodsOf(service, hook.MaxEventBytes), shared: true, opts: o,
		budget: cmp.Or(o.Budget, hookframe.NewBudget(hookframe.MaxInFlight)), errors: connect.NewErrorWriter(codecs()),
	}
}

type hookService struct {
	hooks Hooks
	opts  Options
}

// maxMargin bounds the part of the caller's deadline that is reserved for sending the answer, which
// is a tenth.
const maxMargin = 200 * time.Millisecond

// handle never returns an error. It turns any error into a restricting reply.
func (s hookService) handle(ctx context.Context, in *heard) (*wire.Reply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/10, maxMargin)))
		defer cancel()
	}
	ev, err := in.read(ctx)
	if errors.Is(err, hookframe.ErrFull) {
		return wire.FromReply(restricted(ev, hookframe.ErrFull.Error(), hookframe.FullHint)), nil
	}
	if err != nil {
		s.opts.failed(wire.HookServiceHandleProcedure, err)
		return wire.FromReply(restricted(ev, "the event was not understood: "+short(err), "Check what the agent sends against the reference of the hook API.")), nil
	}
	reply, err := s.judge(ctx, ev)
	if err != nil {
		s.opts.failed(wire.HookServiceHandleProcedure, err)
		reason, hint := explain(err)
		return wire.FromReply(restricted(ev, reason, hint)), nil
	}
	// A reply may say that the call is allowed only as another command. A caller cannot say in this
	// protocol that it obeys that, and one that ignores it would run its own command.
	if err := reply.Elsewhere(); err != nil {
		return wire.FromReply(elsewhere(ev, err)), nil
	}
	return wire.FromReply(reply), nil
}

// read returns the event. An event over a limit is returned together with the error, so that the
// reply can name its calls.
func (in *heard) read(ctx context.Context) (hook.Event, error) {
	if err := unread(ctx); err != nil {
		return hook.Event{}, err
	}
	if in.err != nil {
		return hook.Event{}, in.err
	}
	ev, err := in.event.Hook()
	if err != nil {
		return hook.Event{}, err
	}
	return ev, ev.Check()
}

// judge calls Handle, and turns a panic into an error.
func (s hookService) judge(ctx context.Context, ev hook.Event) (reply hook.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = hook.Reply{}, fmt.Errorf("%w: %v", errPanicked, p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return hook.Reply{}, err
	}
	return s.hooks.Handle(ctx, IdentityOf(ctx).Tenant, ev)
}

var errPanicked = errors.New("panic while judging")

// explain returns an error in words for people, with a hint. It does not show the text of an
// unknown error, which may contain anything.
func explain(err error) (reason, hint string) {
	var known *monitor.Refusal
	switch {
	case errors.As(err, &known):
		return known.Reason, known.Hint
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no time left to judge and record this", "Try again. If it happens often, the disk or the database is slow."
	case errors.Is(err, context.Canceled):
		return "whoever asked has gone", "Repeat the call."
	}
	return "this could not be judged or recorded", "Look at «floodmark status», then repeat the call."
}

// maxSaid bounds an error that is quoted in a reply, because it may itself quote the request.
const maxSaid = 200

func short(err error) string {
	said := []rune(err.Error())
	if len(said) > maxSaid {
		return string(said[:maxSaid]) + "…"
	}
	return string(said)
}

// restricted returns a restricting reply with a reason.
func restricted(ev hook.Event, reason, hint string) hook.Reply {
	d := floodmark.Decision{
		Verdict: floodmark.Restrict,
		Reasons: []floodmark.Reason{{Code: floodmark.Unjudged, Text: reason, Verdict: floodmark.Restrict}},
		Remedy:  floodmark.Remedy{Agent: "Tell the owner that Floodmark could not judge this.", Person: hint},
	}
	return everywhere(ev, d, "Floodmark refuses what it cannot judge: "+reason+". "+hint)
}

// elsewhere returns the refusal of a call that is allowed, but not in the way that the caller would
// run it.
func elsewhere(ev hook.Event, why error) hook.Reply {
	d := floodmark.Decision{
		Verdict: floodmark.Restrict,
		Reasons: []floodmark.Reason{{Code: floodmark.OutsideBox, Text: why.Error(), Verdict: floodmark.Restrict}},
	}
	return everywhere(ev, d, "refused because "+why.Error()+".")
}

// everywhere returns a reply with one decision for an event and each of its calls.
func everywhere(ev hook.Event, d floodmark.Decision, line string) hook.Reply {
	r := hook.Reply{Decision: d, Line: line}
	for range min(len(ev.Calls), hook.MaxParts) {
		r.Calls = append(r.Calls, d)
	}
	return r
}
