package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A sternMonitor treats every caller as an agent's process, or lets the request time out.
type sternMonitor struct {
	wire.UnimplementedOwnerServiceHandler
	silent *outOfTime
}

// outOfTime is a context whose deadline passes when the test says so.
type outOfTime struct {
	context.Context
	passed chan struct{}
}

func (o *outOfTime) Done() <-chan struct{} { return o.passed }

func (o *outOfTime) Err() error {
	select {
	case <-o.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (m sternMonitor) Status(ctx context.Context, _ *wire.StatusRequest) (*wire.StatusResponse, error) {
	if m.silent != nil {
		close(m.silent.passed)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, connect.NewError(connect.CodePermissionDenied, errors.New("an agent started this"))
}

func sternSocket(t *testing.T, m sternMonitor) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // the test's own folder is too deep for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "owner.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(wire.NewOwnerServiceHandler(m))
	server := httpapi.NewServer(mux)
	go func() { _ = server.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return socket
}

// The monitor of this user is also asked at its usual socket, so that an agent cannot pass as the
// owner by setting a variable to another place. A monitor that is there and does not answer has not
// allowed anything.
func TestVariablesDoNotHideTheMonitor(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(home, ".local", "share", "floodmark"), 0o700), os.MkdirAll(filepath.Join(elsewhere, "linked"), 0o700),
		os.Symlink(filepath.Join(home, ".local", "share", "floodmark"), filepath.Join(elsewhere, "linked", "data")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	vars := func(all map[string]string) func(string) string { return func(name string) string { return all[name] } }
	env := vars(map[string]string{"HOME": home, "XDG_RUNTIME_DIR": filepath.Join(elsewhere, "none")})
	other := vars(map[string]string{"HOME": elsewhere})
	if err := (&Console{Getenv: env}).MayChange(t.Context(), Place{}); err != nil {
		t.Errorf("without a monitor: %v", err)
	}
	usual := []string{filepath.Join(elsewhere, "gone"), sternSocket(t, sternMonitor{})}
	for what, c := range map[string]struct {
		env func(string) string
		at  Place
		no  bool
	}{
		"another runtime folder": {env: env, no: true},
		"another home, our data": {env: vars(map[string]string{"HOME": elsewhere, "XDG_DATA_HOME": filepath.Join(home, ".local", "share")}), no: true},
		"a link to our data":     {env: other, at: Place{Dir: filepath.Join(elsewhere, "linked")}, no: true},
		"another installation":   {env: other},
		"another folder":         {env: env, at: Place{Dir: elsewhere}},
	} {
		err := (&Console{Getenv: c.env, Home: home, Usual: usual}).MayChange(t.Context(), c.at)
		if (err != nil) != c.no || err != nil && !strings.Contains(err.Error(), "an agent started this") {
			t.Errorf("%s: %v", what, err)
		}
	}
	soon := &outOfTime{Context: t.Context(), passed: make(chan struct{})}
	silent := &Console{Getenv: env, Home: home, Usual: []string{sternSocket(t, sternMonitor{silent: soon})}}
	if err := silent.MayChange(soon, Place{}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a monitor that was stopped: %v", err)
	}
}
