package httpapi

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/wire"
)

// ownerService adapts Connect's calls: it adds the caller.
type ownerService struct{ owner Owner }

var _ wire.OwnerServiceHandler = ownerService{}

func (s ownerService) Status(ctx context.Context, r *wire.StatusRequest) (*wire.StatusResponse, error) {
	return s.owner.Status(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Sessions(ctx context.Context, r *wire.SessionsRequest) (*wire.SessionsResponse, error) {
	return s.owner.Sessions(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Show(ctx context.Context, r *wire.ShowRequest) (*wire.ShowResponse, error) {
	who := IdentityOf(ctx)
	resp, err := s.owner.Show(ctx, who, r)
	withoutCodes(who, resp.GetPending()...)
	return resp, err
}

func (s ownerService) Why(ctx context.Context, r *wire.WhyRequest) (*wire.WhyResponse, error) {
	return s.owner.Why(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Graph(ctx context.Context, r *wire.GraphRequest) (*wire.GraphResponse, error) {
	return s.owner.Graph(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Pending(ctx context.Context, r *wire.PendingRequest) (*wire.PendingResponse, error) {
	who := IdentityOf(ctx)
	resp, err := s.owner.Pending(ctx, who, r)
	withoutCodes(who, resp.GetQuestions()...)
	return resp, err
}

func (s ownerService) Answer(ctx context.Context, r *wire.AnswerRequest) (*wire.AnswerResponse, error) {
	who := IdentityOf(ctx)
	if err := byCard(who, r); err != nil {
		return nil, err
	}
	return s.owner.Answer(ctx, who, r)
}

func (s ownerService) Endorse(ctx context.Context, r *wire.EndorseRequest) (*wire.EndorseResponse, error) {
	return s.owner.Endorse(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Withdraw(ctx context.Context, r *wire.WithdrawRequest) (*wire.WithdrawResponse, error) {
	return s.owner.Withdraw(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Leftovers(ctx context.Context, r *wire.LeftoversRequest) (*wire.LeftoversResponse, error) {
	return s.owner.Leftovers(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Clean(ctx context.Context, r *wire.CleanRequest) (*wire.CleanResponse, error) {
	return s.owner.Clean(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Undo(ctx context.Context, r *wire.UndoRequest) (*wire.UndoResponse, error) {
	return s.owner.Undo(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Grants(ctx context.Context, r *wire.GrantsRequest) (*wire.GrantsResponse, error) {
	return s.owner.Grants(ctx, IdentityOf(ctx), r)
}

func (s ownerService) EndGrant(ctx context.Context, r *wire.EndGrantRequest) (*wire.EndGrantResponse, error) {
	return s.owner.EndGrant(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Trust(ctx context.Context, r *wire.TrustRequest) (*wire.TrustResponse, error) {
	return s.owner.Trust(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Pause(ctx context.Context, r *wire.PauseRequest) (*wire.PauseResponse, error) {
	return s.owner.Pause(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Resume(ctx context.Context, r *wire.ResumeRequest) (*wire.ResumeResponse, error) {
	return s.owner.Resume(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Bundles(ctx context.Context, r *wire.BundlesRequest) (*wire.BundlesResponse, error) {
	return s.owner.Bundles(ctx, IdentityOf(ctx), r)
}

func (s ownerService) ShowBundle(ctx context.Context, r *wire.ShowBundleRequest) (*wire.ShowBundleResponse, error) {
	return s.owner.ShowBundle(ctx, IdentityOf(ctx), r)
}

func (s ownerService) PublishBundle(ctx context.Context, r *wire.PublishBundleRequest) (*wire.PublishBundleResponse, error) {
	return s.owner.PublishBundle(ctx, IdentityOf(ctx), r)
}

func (s ownerService) RollBundle(ctx context.Context, r *wire.RollBundleRequest) (*wire.RollBundleResponse, error) {
	return s.owner.RollBundle(ctx, IdentityOf(ctx), r)
}

func (s ownerService) RollBackBundle(ctx context.Context, r *wire.RollBackBundleRequest) (*wire.RollBackBundleResponse, error) {
	return s.owner.RollBackBundle(ctx, IdentityOf(ctx), r)
}

func (s ownerService) ReloadPolicy(ctx context.Context, r *wire.ReloadPolicyRequest) (*wire.ReloadPolicyResponse, error) {
	return s.owner.ReloadPolicy(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Join(ctx context.Context, r *wire.JoinRequest) (*wire.JoinResponse, error) {
	return s.owner.Join(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Leave(ctx context.Context, r *wire.LeaveRequest) (*wire.LeaveResponse, error) {
	return s.owner.Leave(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Forget(ctx context.Context, r *wire.ForgetRequest) (*wire.ForgetResponse, error) {
	return s.owner.Forget(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Report(ctx context.Context, r *wire.ReportRequest) (*wire.ReportResponse, error) {
	return s.owner.Report(ctx, IdentityOf(ctx), r)
}

func (s ownerService) Watch(ctx context.Context, r *wire.WatchRequest, stream *connect.ServerStream[wire.WatchResponse]) error {
	who := IdentityOf(ctx)
	return s.owner.Watch(ctx, who, r, func(seen *wire.WatchResponse) error {
		if q := seen.GetAsked(); q.GetCode() != "" {
			seen = proto.CloneOf(seen) // other watchers share it
			withoutCodes(who, seen.GetAsked())
		}
		return stream.Send(seen)
	})
}

func (s ownerService) Verify(ctx context.Context, r *wire.VerifyRequest, stream *connect.ServerStream[wire.VerifyResponse]) error {
	return s.owner.Verify(ctx, IdentityOf(ctx), r, stream.Send)
}

func (s ownerService) Export(ctx context.Context, r *wire.ExportRequest, stream *connect.ServerStream[wire.ExportResponse]) error {
	return s.owner.Export(ctx, IdentityOf(ctx), r, stream.Send)
}

// byCard refuses an answer of the console that has a code, or a yes that does not say what the card
// showed.
func byCard(who Identity, r *wire.AnswerRequest) error {
	switch {
	case who.Channel != ByConsole:
	case r.GetCode() != "":
		return fmt.Errorf("%w: codes are typed at a terminal; the console answers by ticket", ErrInvalid)
	case r.GetSeen() == "" && r.GetVerb() != "deny":
		return fmt.Errorf("%w: say what the card showed, so that nothing else is approved", ErrInvalid)
	}
	return nil
}

// withoutCodes removes the codes from questions that leave the machine. A code proves a person at a
// local terminal; remote owners answer by ticket.
func withoutCodes(who Identity, questions ...*wire.Question) {
	if who.Channel == OwnerSocket {
		return
	}
	for _, q := range questions {
		if q != nil {
			q.Code = ""
		}
	}
}
