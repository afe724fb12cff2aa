package asking

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

const aLink = "http://127.131.7.9:4711/#open=0123456789012345678901234567890123456789abc"

// A console that answers in the place of a monitor's.
type linked struct {
	httpapi.Console
	link, only string
}

func (l linked) OpenConsole(context.Context, httpapi.Identity, *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error) {
	return &wire.OpenConsoleResponse{Link: l.link, OnlyShows: l.only}, nil
}

func (linked) CloseConsole(context.Context, httpapi.Identity, *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error) {
	return &wire.CloseConsoleResponse{Ended: 2}, nil
}

// opens runs «floodmark open» with something at the owner's socket.
func opens(t *testing.T, at linked, args ...string) (out, said string, err error) {
	t.Helper()
	dir := t.TempDir()
	socket := config.DirPaths(dir).OwnerSocket
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.NewConsoleHandler(at, httpapi.Options{})
	s := httpapi.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(httpapi.WithIdentity(r.Context(), httpapi.Identity{May: httpapi.OwnerMay})))
	}))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	defer func() { _ = s.Close(); <-ended }()
	var stdout, stderr bytes.Buffer
	c := &cli.Console{Stdout: &stdout, Stderr: &stderr, Dir: dir, Home: dir, Getenv: func(string) string { return "" }}
	cmd := NewOpen(c)
	cli.AddOutput(cmd, true, cli.AsText, cli.AsJSON)
	cmd.SetArgs(append([]string{"--dir", dir}, args...))
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// The link is printed where no browser is, with what the page cannot do, and pages end.
func TestOpen(t *testing.T) {
	out, said, err := opens(t, linked{link: aLink, only: "it was opened so"})
	if err != nil || out != aLink+"\n" || !strings.Contains(said, "it only shows: it was opened so") || !strings.Contains(said, "it works once") {
		t.Errorf("%v: %q, %q", err, out, said)
	}
	if out, _, err := opens(t, linked{link: aLink}, "--output", "json"); err != nil || !strings.Contains(out, aLink) {
		t.Errorf("%v: %q", err, out)
	}
	if _, said, err := opens(t, linked{}, "--close"); err != nil || !strings.Contains(said, "2 pages were ended") {
		t.Errorf("%v: %q", err, said)
	}
}

// What is at the owner's socket cannot have anything opened.
func TestOnlyAConsoleIsOpened(t *testing.T) {
	code := aLink[strings.Index(aLink, "#"):]
	for _, link := range []string{
		"", "/home/anna/x.desktop", "--version", "file:///home/anna/x.html", "http://127.131.7.9.evil.example:4711/" + code, "http://evil.example/" + code,
		"http://127.131.7.9:4711@evil.example/" + code, "http://127.131.7.9:4711/x" + code, aLink + "\n", "http://127.131.7.999:4711/" + code, "http://127.131.7.9:99999/" + code, "https" + aLink[4:],
	} {
		out, _, err := opens(t, linked{link: link}, "--print")
		if err == nil || out != "" || !strings.Contains(err.Error(), "no link to a console") {
			t.Errorf("%q: %v, %q", link, err, out)
		}
	}
}
