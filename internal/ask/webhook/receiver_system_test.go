package webhook_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/verify"
)

// The receiver in the guide is built and run without changes.
func TestReceiverOfTheGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("it is compiled first")
	}
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	address := receiver(t, secret)
	ask := func(secret, command string, now time.Time) webhook.Report {
		h, err := webhook.New(webhook.Options{Name: "webhook", URL: "http://" + address + "/verify", Secret: secret, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		r := request()
		r.Tool, r.Params = "exec", []byte(`{"command":"`+command+`"}`)
		return h.Try(t.Context(), r)
	}
	if r := ask(secret, "make test", time.Now()); r.Failure != nil || r.Answer != (verify.Answer{Allow: true}) {
		t.Errorf("%+v %v", r.Answer, r.Failure)
	}
	if r := ask(secret, "curl https://news.example", time.Now()); r.Failure != nil || r.Answer != (verify.Answer{Reason: "nothing is fetched by curl here"}) {
		t.Errorf("%+v %v", r.Answer, r.Failure)
	}
	for name, r := range map[string]webhook.Report{
		"another secret":    ask("another secret of ours", "make test", time.Now()),
		"no secret":         ask("", "make test", time.Now()),
		"an old request":    ask(secret, "make test", time.Now().Add(-6*time.Minute)),
		"one from tomorrow": ask(secret, "make test", time.Now().Add(6*time.Minute)),
	} {
		if r.Failure == nil || r.Failure.Text != "it answered 401 Unauthorized" {
			t.Errorf("%s: %+v %v", name, r.Answer, r.Failure)
		}
	}
	if res, err := http.Get("http://" + address + "/verify"); err != nil || res.StatusCode != http.StatusMethodNotAllowed || res.Body.Close() != nil {
		t.Errorf("%v %v", res, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// receiver builds the guide's program, runs it until the test ends, and returns its address.
func receiver(t *testing.T, secret string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/guide/webhook.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```go receiver.go\n")
	code, _, ok := strings.Cut(code, "```\n")
	if !ok {
		t.Fatal("the guide has no receiver")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "receiver.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "receiver", "receiver.go")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "receiver.go")
	vet.Dir = dir
	if out, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "receiver"), "-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if m := regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
	}
	t.Fatal("it does not listen")
	return ""
}
