package httpapi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// ownerMethods returns all methods, as the description lists them.
func ownerMethods() (all []protoreflect.MethodDescriptor) {
	methods := wire.File_floodmark_v1_owner_proto.Services().ByName("OwnerService").Methods()
	for i := range methods.Len() {
		all = append(all, methods.Get(i))
	}
	return all
}

func pathOf(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
}

// call calls any method with an empty message in one protocol, without the library. It returns the
// code of the answer; 0 is a success.
func call(t testing.TB, c *http.Client, url, protocol string, streams bool, header http.Header) connect.Code {
	t.Helper()
	body := string(make([]byte, 5))
	content := map[string]string{"gRPC": "application/grpc", "gRPC-Web": "application/grpc-web+proto", "connect": "application/connect+proto"}[protocol]
	switch {
	case protocol == "connect" && !streams:
		body, content = "{}", "application/json"
	case protocol == "gRPC":
		c = grpc(t, c)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header.Clone()
	}
	r.Header.Set("Content-Type", content)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return codeOf(t, protocol, streams, resp, string(answer))
}

// codeOf returns the code, which is in another place in each protocol.
func codeOf(t testing.TB, protocol string, streams bool, resp *http.Response, answer string) (code connect.Code) {
	t.Helper()
	switch {
	case protocol == "gRPC" || protocol == "gRPC-Web":
		word := resp.Header.Get("Grpc-Status") + resp.Trailer.Get("Grpc-Status")
		if _, after, ok := strings.Cut(answer, "grpc-status: "); ok {
			word, _, _ = strings.Cut(after, "\r")
		}
		if _, err := fmt.Sscan(word, &code); err != nil {
			t.Fatalf("%s: no status in %v %q", protocol, resp.Header, answer)
		}
		return code
	case streams:
		for len(answer) > 5 && answer[0] != 2 {
			answer = answer[5+binary.BigEndian.Uint32([]byte(answer[1:5])):]
		}
	case resp.StatusCode == http.StatusOK:
		return 0
	}
	_, after, found := strings.Cut(answer, `"code":"`)
	if !found {
		return 0
	}
	word, _, _ := strings.Cut(after, `"`)
	if err := code.UnmarshalText([]byte(word)); err != nil {
		t.Fatal(err)
	}
	return code
}

// Each method is open only to callers with its permission. Refused calls are reported.
func TestEveryMethodNeedsItsPermission(t *testing.T) {
	needs := map[httpapi.May]string{
		httpapi.MayView:    " Status Sessions Show Why Graph Pending Grants Watch Verify Bundles ",
		httpapi.MayApprove: " Answer Endorse Withdraw Leftovers Clean EndGrant Resume ",
		httpapi.MayPolicy:  " ReloadPolicy ShowBundle PublishBundle RollBundle RollBackBundle ",
		httpapi.MayAdmin:   " Pause Trust Forget Report Export Join Leave Undo ",
		httpapi.MayEvents:  "",
		0:                  "",
	}
	for may, methods := range needs {
		who := httpapi.Identity{Tenant: "firm", Name: "somebody", May: may}
		called, refused := "", ""
		owner := fakeOwner{func(m string, w httpapi.Identity) error {
			if !reflect.DeepEqual(w, who) {
				t.Errorf("%s was called by %+v", m, w)
			}
			called += m
			return nil
		}}
		o := httpapi.Options{Refused: func(w httpapi.Identity, m, _ string) {
			if !reflect.DeepEqual(w, who) {
				t.Errorf("%+v was refused", w)
			}
			refused += m
		}}
		c := serve(t, as(who, httpapi.NewOwnerHandler(owner, o)))
		for _, m := range ownerMethods() {
			called, refused = "", ""
			permitted := strings.Contains(methods, " "+string(m.Name())+" ")
			code := call(t, c, "http://test"+pathOf(m), "connect", m.IsStreamingServer(), nil)
			switch {
			case permitted && (code != 0 || called != string(m.Name()) || refused != ""):
				t.Errorf("%s may not call %s: %v", may, m.Name(), code)
			case !permitted && (called != "" || refused != pathOf(m)):
				t.Errorf("%s called %s (%q, reported %q)", may, m.Name(), called, refused)
			case !permitted && (code != connect.CodePermissionDenied || may == 0) && (code != connect.CodeUnauthenticated || may != 0):
				t.Errorf("%s called %s and was told %v", may, m.Name(), code)
			}
		}
	}
}

// Each error has a code, and a text for people.
func TestOwnerErrors(t *testing.T) {
	var fails error
	owner := fakeOwner{func(string, httpapi.Identity) error {
		if fails == nil {
			panic("CANARY")
		}
		return fails
	}}
	told := 0
	who := httpapi.Identity{Name: "anna", May: httpapi.OwnerMay}
	c := serve(t, as(who, httpapi.NewOwnerHandler(owner, httpapi.Options{Failed: func(string, error) { told++ }})))
	client := wire.NewOwnerServiceClient(c, "http://test")
	for _, x := range []struct {
		err  error
		code connect.Code
		says string
	}{
		{nil, connect.CodeInternal, "floodmark status"},
		{errors.New("CANARY"), connect.CodeInternal, "floodmark status"},
		{fmt.Errorf("session s9: %w", httpapi.ErrNotFound), connect.CodeNotFound, "session s9"},
		{fmt.Errorf("%w: a verb", httpapi.ErrInvalid), connect.CodeInvalidArgument, "a verb"},
		{connect.NewError(connect.CodeAborted, errors.New("just so")), connect.CodeAborted, "just so"},
		{&monitor.Refusal{Reason: "nothing is known", Hint: "Look.", Err: monitor.ErrNoSession}, connect.CodeNotFound, "nothing is known. Look."},
		{fmt.Errorf("%w: dial CANARY: %w", journal.ErrAway, context.DeadlineExceeded), connect.CodeUnavailable, "the journal does not answer; see that its database runs and can be reached: the monitor's log says what failed"},
		{&monitor.Refusal{Reason: "too much", Hint: "Wait.", Err: monitor.ErrBusy}, connect.CodeUnavailable, "too much. Wait."},
		{&monitor.Refusal{Reason: "broken", Hint: "Verify."}, connect.CodeFailedPrecondition, "broken. Verify."},
		{context.DeadlineExceeded, connect.CodeDeadlineExceeded, "no time left"},
		{context.Canceled, connect.CodeCanceled, "has gone"},
	} {
		fails = x.err
		_, err := client.Forget(t.Context(), &wire.ForgetRequest{})
		checkError(t, err, x.code, x.says)
		stream, err := client.Export(t.Context(), &wire.ExportRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if !stream.Receive() || stream.Receive() {
			t.Error("not one message arrived before the error")
		}
		checkError(t, stream.Err(), x.code, x.says)
		_ = stream.Close()
	}
	if told != 14 { // a caller that has gone is no failure
		t.Errorf("told of %d failures, want 14", told)
	}
}

func checkError(t *testing.T, err error, code connect.Code, says string) {
	t.Helper()
	if connect.CodeOf(err) != code || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("%v, want %v with %q", err, code, says)
	}
}

// An owner's request is read up to its limit, and unknown fields are refused.
func TestOwnerRequests(t *testing.T) {
	calls := 0
	owner := fakeOwner{func(string, httpapi.Identity) error { calls++; return nil }}
	c := serve(t, as(httpapi.Identity{May: httpapi.OwnerMay}, httpapi.NewOwnerHandler(owner, httpapi.Options{})))
	const url = "http://test" + wire.OwnerServiceForgetProcedure
	body := `{"session":"` + strings.Repeat("x", httpapi.MaxOwnerBytes-14) + `"}`
	for text, want := range map[string]int{
		body: 200, body + " ": 400, `{"sesion":"x"}`: 400, `{"session":"x","session":"y"}`: 400, `{`: 400, ``: 400, `{}`: 200,
	} {
		calls = 0
		if status, answer := post(t, c, url, text); status != want || (calls == 1) != (want == 200) {
			t.Errorf("%.30s… (%d bytes): status %d, %s", text, len(text), status, answer)
		}
	}
}

// codeOwner sends a code with every question.
type codeOwner struct{ fakeOwner }

func (codeOwner) Pending(context.Context, httpapi.Identity, *wire.PendingRequest) (*wire.PendingResponse, error) {
	return &wire.PendingResponse{Questions: []*wire.Question{{Ticket: "t1", Code: "CANARY"}}}, nil
}

func (codeOwner) Show(context.Context, httpapi.Identity, *wire.ShowRequest) (*wire.ShowResponse, error) {
	return &wire.ShowResponse{Pending: []*wire.Question{{Ticket: "t1", Code: "CANARY"}}}, nil
}

func (codeOwner) Watch(_ context.Context, _ httpapi.Identity, _ *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	return send(&wire.WatchResponse{What: &wire.WatchResponse_Asked{Asked: &wire.Question{Ticket: "t1", Code: "CANARY"}}})
}

// A code does not leave the machine, even if the daemon returns it.
func TestCodesStayHere(t *testing.T) {
	for channel, told := range map[string]bool{"owner.sock": true, "token": false, "certificate": false, "": false, "hook.sock": false} {
		who := httpapi.Identity{Name: "anna", Channel: channel, May: httpapi.OwnerMay}
		c := serve(t, as(who, httpapi.NewOwnerHandler(codeOwner{}, httpapi.Options{})))
		all := ""
		for _, path := range []string{wire.OwnerServicePendingProcedure, wire.OwnerServiceShowProcedure} {
			_, answer := post(t, c, "http://test"+path, "{}")
			all += answer
		}
		_, answer := post(t, c, "http://test"+wire.OwnerServiceWatchProcedure, "\x00\x00\x00\x00\x02{}", "Content-Type", "application/connect+json")
		all += answer
		want := 0
		if told {
			want = 3
		}
		if strings.Count(all, "CANARY") != want || strings.Count(all, `"t1"`) != 3 {
			t.Errorf("%s was told %s", channel, all)
		}
	}
}
