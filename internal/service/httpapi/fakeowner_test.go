package httpapi_test

import (
	"context"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// fakeOwner records each call and returns the error of called.
type fakeOwner struct {
	called func(method string, who httpapi.Identity) error
}

var _ httpapi.Owner = fakeOwner{}

func (f fakeOwner) Status(_ context.Context, who httpapi.Identity, _ *wire.StatusRequest) (*wire.StatusResponse, error) {
	return &wire.StatusResponse{}, f.called("Status", who)
}

func (f fakeOwner) Sessions(_ context.Context, who httpapi.Identity, _ *wire.SessionsRequest) (*wire.SessionsResponse, error) {
	return &wire.SessionsResponse{}, f.called("Sessions", who)
}

func (f fakeOwner) Show(_ context.Context, who httpapi.Identity, _ *wire.ShowRequest) (*wire.ShowResponse, error) {
	return &wire.ShowResponse{}, f.called("Show", who)
}

func (f fakeOwner) Why(_ context.Context, who httpapi.Identity, _ *wire.WhyRequest) (*wire.WhyResponse, error) {
	return &wire.WhyResponse{}, f.called("Why", who)
}

func (f fakeOwner) Graph(_ context.Context, who httpapi.Identity, _ *wire.GraphRequest) (*wire.GraphResponse, error) {
	return &wire.GraphResponse{}, f.called("Graph", who)
}

func (f fakeOwner) Pending(_ context.Context, who httpapi.Identity, _ *wire.PendingRequest) (*wire.PendingResponse, error) {
	return &wire.PendingResponse{}, f.called("Pending", who)
}

func (f fakeOwner) Answer(_ context.Context, who httpapi.Identity, _ *wire.AnswerRequest) (*wire.AnswerResponse, error) {
	return &wire.AnswerResponse{}, f.called("Answer", who)
}

func (f fakeOwner) Endorse(_ context.Context, who httpapi.Identity, _ *wire.EndorseRequest) (*wire.EndorseResponse, error) {
	return &wire.EndorseResponse{}, f.called("Endorse", who)
}

func (f fakeOwner) Withdraw(_ context.Context, who httpapi.Identity, _ *wire.WithdrawRequest) (*wire.WithdrawResponse, error) {
	return &wire.WithdrawResponse{}, f.called("Withdraw", who)
}

func (f fakeOwner) Undo(_ context.Context, who httpapi.Identity, _ *wire.UndoRequest) (*wire.UndoResponse, error) {
	return &wire.UndoResponse{}, f.called("Undo", who)
}

func (f fakeOwner) Grants(_ context.Context, who httpapi.Identity, _ *wire.GrantsRequest) (*wire.GrantsResponse, error) {
	return &wire.GrantsResponse{}, f.called("Grants", who)
}

func (f fakeOwner) Trust(_ context.Context, who httpapi.Identity, _ *wire.TrustRequest) (*wire.TrustResponse, error) {
	return &wire.TrustResponse{}, f.called("Trust", who)
}

func (f fakeOwner) Pause(_ context.Context, who httpapi.Identity, _ *wire.PauseRequest) (*wire.PauseResponse, error) {
	return &wire.PauseResponse{}, f.called("Pause", who)
}

func (f fakeOwner) Resume(_ context.Context, who httpapi.Identity, _ *wire.ResumeRequest) (*wire.ResumeResponse, error) {
	return &wire.ResumeResponse{}, f.called("Resume", who)
}

func (f fakeOwner) Leftovers(_ context.Context, who httpapi.Identity, _ *wire.LeftoversRequest) (*wire.LeftoversResponse, error) {
	return &wire.LeftoversResponse{}, f.called("Leftovers", who)
}

func (f fakeOwner) Clean(_ context.Context, who httpapi.Identity, _ *wire.CleanRequest) (*wire.CleanResponse, error) {
	return &wire.CleanResponse{}, f.called("Clean", who)
}

func (f fakeOwner) EndGrant(_ context.Context, who httpapi.Identity, _ *wire.EndGrantRequest) (*wire.EndGrantResponse, error) {
	return &wire.EndGrantResponse{}, f.called("EndGrant", who)
}

func (f fakeOwner) Bundles(_ context.Context, who httpapi.Identity, _ *wire.BundlesRequest) (*wire.BundlesResponse, error) {
	return &wire.BundlesResponse{}, f.called("Bundles", who)
}

func (f fakeOwner) ShowBundle(_ context.Context, who httpapi.Identity, _ *wire.ShowBundleRequest) (*wire.ShowBundleResponse, error) {
	return &wire.ShowBundleResponse{}, f.called("ShowBundle", who)
}

func (f fakeOwner) PublishBundle(_ context.Context, who httpapi.Identity, _ *wire.PublishBundleRequest) (*wire.PublishBundleResponse, error) {
	return &wire.PublishBundleResponse{}, f.called("PublishBundle", who)
}

func (f fakeOwner) RollBundle(_ context.Context, who httpapi.Identity, _ *wire.RollBundleRequest) (*wire.RollBundleResponse, error) {
	return &wire.RollBundleResponse{}, f.called("RollBundle", who)
}

func (f fakeOwner) RollBackBundle(_ context.Context, who httpapi.Identity, _ *wire.RollBackBundleRequest) (*wire.RollBackBundleResponse, error) {
	return &wire.RollBackBundleResponse{}, f.called("RollBackBundle", who)
}

func (f fakeOwner) ReloadPolicy(_ context.Context, who httpapi.Identity, _ *wire.ReloadPolicyRequest) (*wire.ReloadPolicyResponse, error) {
	return &wire.ReloadPolicyResponse{}, f.called("ReloadPolicy", who)
}

func (f fakeOwner) Join(_ context.Context, who httpapi.Identity, _ *wire.JoinRequest) (*wire.JoinResponse, error) {
	return &wire.JoinResponse{}, f.called("Join", who)
}

func (f fakeOwner) Leave(_ context.Context, who httpapi.Identity, _ *wire.LeaveRequest) (*wire.LeaveResponse, error) {
	return &wire.LeaveResponse{}, f.called("Leave", who)
}

func (f fakeOwner) Forget(_ context.Context, who httpapi.Identity, _ *wire.ForgetRequest) (*wire.ForgetResponse, error) {
	return &wire.ForgetResponse{}, f.called("Forget", who)
}

func (f fakeOwner) Report(_ context.Context, who httpapi.Identity, _ *wire.ReportRequest) (*wire.ReportResponse, error) {
	return &wire.ReportResponse{}, f.called("Report", who)
}

func (f fakeOwner) Watch(_ context.Context, who httpapi.Identity, _ *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	if err := send(&wire.WatchResponse{}); err != nil {
		return err
	}
	return f.called("Watch", who)
}

func (f fakeOwner) Verify(_ context.Context, who httpapi.Identity, _ *wire.VerifyRequest, send func(*wire.VerifyResponse) error) error {
	if err := send(&wire.VerifyResponse{}); err != nil {
		return err
	}
	return f.called("Verify", who)
}

func (f fakeOwner) Export(_ context.Context, who httpapi.Identity, _ *wire.ExportRequest, send func(*wire.ExportResponse) error) error {
	if err := send(&wire.ExportResponse{}); err != nil {
		return err
	}
	return f.called("Export", who)
}
