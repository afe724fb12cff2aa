package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/wire"
)

// Options are the callbacks and limits of a handler. All are optional.
type Options struct {
	// Refused is called for every call without permission, before its caller gets the answer. It
	// must not block.
	Refused func(who Identity, method, remote string)
	// Failed gets internal errors, which callers do not see.
	Failed func(method string, err error)
	// MaxWait caps the time of one call, except for streams; zero means [DefaultMaxWait].
	MaxWait time.Duration
	// MaxBody caps the time a caller may take to send its request; zero means
	// [DefaultMaxBody].
	MaxBody time.Duration
	// Still is how often the permission of a stream's caller is checked again; zero means
	// [DefaultStill].
	Still time.Duration
	// Budget bounds the bytes of all events in flight. It may be shared with other handlers and
	// sockets. If it is nil, this handler has its own of [hookframe.MaxInFlight].
	Budget *hookframe.Budget
	// Share returns the part of the budget for a caller of the HookService. If Share is nil or
	// returns nil, the whole budget is used.
	Share func(who Identity) *hookframe.Budget
}

const (
	// DefaultMaxWait is longer than any agent waits for a hook.
	DefaultMaxWait = 60 * time.Second
	// DefaultMaxBody is enough for 32 MiB on a slow line.
	DefaultMaxBody = 20 * time.Second
	// MaxOwnerBytes bounds an owner's request: names, digests and a reason.
	MaxOwnerBytes = 64 << 10
	// MaxBundleBytes bounds a request with signed rules. A bundle is at most half of it, and a
	// third larger when encoded as text.
	MaxBundleBytes = 1 << 20
	// MaxRulesBytes bounds a request with the text of a policy, which has at most 1 MiB. As JSON it
	// is twice as long if every character is a quotation mark, a tab or the end of a line.
	MaxRulesBytes = 2<<20 + MaxOwnerBytes
	// frameBytes is gRPC's prefix of a message.
	frameBytes = 5
)

func (o Options) refused(who Identity, method, remote string) {
	if o.Refused != nil {
		o.Refused(who, method, remote)
	}
}

func (o Options) failed(method string, err error) {
	if o.Failed != nil {
		o.Failed(method, err)
	}
}

func or(d, standard time.Duration) time.Duration {
	if d <= 0 {
		return standard
	}
	return d
}

// A guard wraps a service: it checks the caller's permission and reads the request within its
// limits.
type guard struct {
	next    http.Handler
	methods map[string]method // by path
	budget  *hookframe.Budget
	shared  bool // callers may have shares of budget
	// portion returns the part of the budget that a caller uses until let is called. It is nil if
	// callers have no parts of their own.
	portion func(who Identity) (part *hookframe.Budget, let func())
	opts    Options
	errors  *connect.ErrorWriter
}

// A method describes a method of a service.
type method struct {
	needs  May
	stream bool
	limit  int // of the request
}

// methodsOf reads what permission each method of a service needs. A method without a permission, or
// with an unknown one, cannot be called.
func methodsOf(s protoreflect.ServiceDescriptor, limit int) map[string]method {
	all := map[string]method{}
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		word, _ := proto.GetExtension(m.Options(), wire.E_Needs).(string)
		needs, err := ParseMay([]string{word})
		if err != nil {
			needs = 0
		}
		all[fmt.Sprintf("/%s/%s", s.FullName(), m.Name())] = method{needs, m.IsStreamingServer(), limit}
	}
	return all
}

// ServeHTTP implements [http.Handler].
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := g.methods[r.URL.Path]
	if !ok {
		http.Error(w, "there is no such method here; docs/reference/hook-api.md lists them", http.StatusNotFound)
		return
	}
	who := IdentityOf(r.Context())
	if !who.May.Has(m.needs) {
		if !who.Unsure {
			g.opts.refused(who, r.URL.Path, r.RemoteAddr)
		}
		// An error means that the caller is gone.
		_ = g.errors.Write(w, r, refusal(who, r.URL.Path, m.needs))
		return
	}
	ctx, stop := g.still(r.Context(), who, r.URL.Path, m)
	defer stop()
	if !m.stream {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, or(g.opts.MaxWait, DefaultMaxWait))
		defer cancel()
	}
	budget := g.budget
	if g.shared && g.opts.Share != nil {
		budget = cmp.Or(g.opts.Share(who), budget)
	}
	if g.portion != nil {
		part, let := g.portion(who)
		defer let()
		budget = part
	}
	claim := budget.Claim()
	defer claim.Release()
	g.next.ServeHTTP(w, g.read(w, r.WithContext(hookframe.WithClaim(ctx, claim)), claim, m.limit))
}

func refusal(who Identity, path string, needs May) *connect.Error {
	if who.May == 0 && who.Unsure {
		return connect.NewError(connect.CodeUnavailable, errors.New(who.Why))
	}
	if who.May == 0 && who.Why != "" {
		return connect.NewError(connect.CodeUnauthenticated, errors.New("nobody known: "+who.Why))
	}
	if who.May == 0 {
		err := errors.New("nobody known: send «Authorization: Bearer fm_…» with a token that is neither revoked nor expired, or a client certificate that was admitted")
		return connect.NewError(connect.CodeUnauthenticated, err)
	}
	if who.Channel == ByProvider || who.Channel == ByConsole && !who.Here {
		return connect.NewError(connect.CodePermissionDenied,
			fmt.Errorf("%s may not do this: it takes the role %s; whoever runs this monitor says which groups have it", who.Name, needs.Role()))
	}
	return connect.NewError(connect.CodePermissionDenied,
		fmt.Errorf("%s may not call %s: it needs the permission %s and has %s; the owner must do this", who.Name, path, needs, who.May))
}

type unreadKey struct{}

// unread returns why a request could not be read.
func unread(ctx context.Context) error {
	err, _ := ctx.Value(unreadKey{}).(error)
	return err
}

// emptyMessage returns a message without fields in the encoding of a request.
func emptyMessage(kind string, framed bool) (data []byte) {
	if strings.Contains(kind, "json") {
		data = []byte("{}")
	}
	if framed {
		data = append([]byte{0, 0, 0, 0, byte(len(data))}, data...)
	}
	return data
}

// read reads the whole request, because every method has one message, and bounds the time for it.
// An unreadable request continues as an empty one with the reason, so that it is answered in the
// caller's own protocol.
func (g *guard) read(w http.ResponseWriter, r *http.Request, claim *hookframe.Claim, most int) *http.Request {
	framed := strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/connect")
	limit := most
	if framed {
		limit += frameBytes
	}
	control := http.NewResponseController(w)
	// A writer without deadlines is a test's.
	_ = control.SetReadDeadline(time.Now().Add(or(g.opts.MaxBody, DefaultMaxBody)))
	data, err := io.ReadAll(io.LimitReader(claim.Reader(r.Body), int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%w: more than %d bytes", hook.ErrTooLarge, most)
	}
	if errors.Is(err, hook.ErrTooLarge) || errors.Is(err, hookframe.ErrFull) {
		// A client that is still sending does not read the answer. Wait, in bounds.
		data = nil
		_, _ = io.CopyN(io.Discard, r.Body, int64(most))
	}
	_ = control.SetReadDeadline(time.Time{})
	for _, h := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		if e := r.Header.Get(h); err == nil && e != "" && e != "identity" {
			err = fmt.Errorf("the request is compressed (%s: %s); send it as it is", h, e)
		}
		r.Header.Del(h)
	}
	if err != nil {
		data = emptyMessage(r.Header.Get("Content-Type"), framed)
		r = r.WithContext(context.WithValue(r.Context(), unreadKey{}, err))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return r
}
