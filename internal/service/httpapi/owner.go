package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Owner answers owners. It is called only if the caller has the permission. Every answer must be
// about who.Tenant only.
//
// An error is shown to the caller if it is a [monitor.Refusal] or wraps one of the errors of this
// package. The text of any other error is not sent.
type Owner interface {
	Status(ctx context.Context, who Identity, r *wire.StatusRequest) (*wire.StatusResponse, error)
	Sessions(ctx context.Context, who Identity, r *wire.SessionsRequest) (*wire.SessionsResponse, error)
	Show(ctx context.Context, who Identity, r *wire.ShowRequest) (*wire.ShowResponse, error)
	Why(ctx context.Context, who Identity, r *wire.WhyRequest) (*wire.WhyResponse, error)
	Graph(ctx context.Context, who Identity, r *wire.GraphRequest) (*wire.GraphResponse, error)
	Pending(ctx context.Context, who Identity, r *wire.PendingRequest) (*wire.PendingResponse, error)
	Answer(ctx context.Context, who Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, error)
	Endorse(ctx context.Context, who Identity, r *wire.EndorseRequest) (*wire.EndorseResponse, error)
	Withdraw(ctx context.Context, who Identity, r *wire.WithdrawRequest) (*wire.WithdrawResponse, error)
	Leftovers(ctx context.Context, who Identity, r *wire.LeftoversRequest) (*wire.LeftoversResponse, error)
	Clean(ctx context.Context, who Identity, r *wire.CleanRequest) (*wire.CleanResponse, error)
	Undo(ctx context.Context, who Identity, r *wire.UndoRequest) (*wire.UndoResponse, error)
	Grants(ctx context.Context, who Identity, r *wire.GrantsRequest) (*wire.GrantsResponse, error)
	EndGrant(ctx context.Context, who Identity, r *wire.EndGrantRequest) (*wire.EndGrantResponse, error)
	Trust(ctx context.Context, who Identity, r *wire.TrustRequest) (*wire.TrustResponse, error)
	Pause(ctx context.Context, who Identity, r *wire.PauseRequest) (*wire.PauseResponse, error)
	Resume(ctx context.Context, who Identity, r *wire.ResumeRequest) (*wire.ResumeResponse, error)
	ReloadPolicy(ctx context.Context, who Identity, r *wire.ReloadPolicyRequest) (*wire.ReloadPolicyResponse, error)
	Join(ctx context.Context, who Identity, r *wire.JoinRequest) (*wire.JoinResponse, error)
	Leave(ctx context.Context, who Identity, r *wire.LeaveRequest) (*wire.LeaveResponse, error)
	Bundles(ctx context.Context, who Identity, r *wire.BundlesRequest) (*wire.BundlesResponse, error)
	ShowBundle(ctx context.Context, who Identity, r *wire.ShowBundleRequest) (*wire.ShowBundleResponse, error)
	PublishBundle(ctx context.Context, who Identity, r *wire.PublishBundleRequest) (*wire.PublishBundleResponse, error)
	RollBundle(ctx context.Context, who Identity, r *wire.RollBundleRequest) (*wire.RollBundleResponse, error)
	RollBackBundle(ctx context.Context, who Identity, r *wire.RollBackBundleRequest) (*wire.RollBackBundleResponse, error)
	Forget(ctx context.Context, who Identity, r *wire.ForgetRequest) (*wire.ForgetResponse, error)
	Report(ctx context.Context, who Identity, r *wire.ReportRequest) (*wire.ReportResponse, error)

	// The following methods send until they are done, the caller cancels, or send fails.
	Watch(ctx context.Context, who Identity, r *wire.WatchRequest, send func(*wire.WatchResponse) error) error
	Verify(ctx context.Context, who Identity, r *wire.VerifyRequest, send func(*wire.VerifyResponse) error) error
	Export(ctx context.Context, who Identity, r *wire.ExportRequest, send func(*wire.ExportResponse) error) error
}

var (
	// ErrNotFound says that what the caller named does not exist.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that the caller requested something impossible.
	ErrInvalid = errors.New("invalid")
)

// NewOwnerHandler serves the OwnerService. The caller must be in the request's context; see
// [WithIdentity].
func NewOwnerHandler(owner Owner, o Options) http.Handler {
	_, next := wire.NewOwnerServiceHandler(ownerService{owner: owner}, codecs(),
		connect.WithInterceptors(checked{o}), connect.WithRecover(recovered))
	service := wire.File_floodmark_v1_owner_proto.Services().ByName("OwnerService")
	methods := methodsOf(service, MaxOwnerBytes)
	large := methods[wire.OwnerServicePublishBundleProcedure]
	large.limit = MaxBundleBytes
	methods[wire.OwnerServicePublishBundleProcedure] = large
	return &guard{
		next: next, methods: methods, opts: o,
		// The owner has a separate budget, so that a flood of events does not lock the owner out.
		budget: hookframe.NewBudget(hookframe.MaxInFlight), errors: connect.NewErrorWriter(codecs()),
	}
}

func recovered(_ context.Context, _ connect.Spec, _ http.Header, p any) error {
	return fmt.Errorf("%w: %v", errPanicked, p)
}

// checked refuses unreadable requests and converts errors for the caller.
type checked struct{ opts Options }

func (c checked) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if err := unread(ctx); err != nil {
			return nil, connect.NewError(connect.CodeInvalidArgument, err)
		}
		resp, err := next(ctx, r)
		if err != nil {
			err = noLonger(ctx, err)
		}
		return resp, c.worded(r.Spec().Procedure, err)
	}
}

func (c checked) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		if err := unread(ctx); err != nil {
			return connect.NewError(connect.CodeInvalidArgument, err)
		}
		return c.worded(conn.Spec().Procedure, noLonger(ctx, next(ctx, conn)))
	}
}

func (checked) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// worded converts an error for the caller.
func (c checked) worded(procedure string, err error) error {
	var ready *connect.Error
	var known *monitor.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ready):
		return err
	case errors.Is(err, ErrNotFound):
		return connect.NewError(connect.CodeNotFound, err)
	case errors.Is(err, ErrInvalid):
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	if !errors.Is(err, context.Canceled) { // otherwise the caller has gone
		c.opts.failed(procedure, err)
	}
	reason, hint := explain(err)
	code := connect.CodeInternal
	switch {
	case errors.Is(err, journal.ErrAway): // while the store is away nothing is judged or recorded; that is not an internal error
		return connect.NewError(connect.CodeUnavailable,
			errors.New("the journal does not answer; see that its database runs and can be reached: the monitor's log says what failed"))
	case errors.Is(err, monitor.ErrNoSession), errors.Is(err, monitor.ErrNoTicket):
		code = connect.CodeNotFound
	case errors.Is(err, context.DeadlineExceeded):
		code = connect.CodeDeadlineExceeded
	case errors.Is(err, context.Canceled):
		code = connect.CodeCanceled
	case errors.Is(err, monitor.ErrBusy), errors.Is(err, monitor.ErrClosed):
		code = connect.CodeUnavailable
	case errors.As(err, &known):
		code = connect.CodeFailedPrecondition
	}
	return connect.NewError(code, fmt.Errorf("%s. %s", reason, hint))
}
