package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/monitor"
)

func logged(f func(*slog.Logger)) string {
	var b bytes.Buffer
	f(slog.New(Redact(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	return b.String()
}

// Foreign text stays out of the log.
func TestTheLogHoldsNoContent(t *testing.T) {
	const canary = "canary7"
	refusal := &monitor.Refusal{Reason: "this was not understood", Err: errors.New("near " + canary)}
	for name, f := range map[string]func(*slog.Logger){
		"an unknown key":      func(l *slog.Logger) { l.Info("x", "body", canary) },
		"incident text":       func(l *slog.Logger) { l.Warn("incident", "kind", "k", "text", canary) },
		"a quoted error":      func(l *slog.Logger) { l.Error("x", "error", fmt.Errorf("unknown field %q", "a\"b"+canary)) },
		"an open quote":       func(l *slog.Logger) { l.Error("x", "error", errors.New(`near "`+canary)) },
		"a refusal's cause":   func(l *slog.Logger) { l.Error("x", "error", fmt.Errorf("handle: %w", refusal)) },
		"an address":          func(l *slog.Logger) { l.Error("x", "error", errors.New("get https://a.example/"+canary+": refused")) },
		"a database address":  func(l *slog.Logger) { l.Error("x", "error", errors.New("dial postgres://me:"+canary+"@db")) },
		"a mail address":      func(l *slog.Logger) { l.Error("x", "error", errors.New("no "+canary+"@firm.example here")) },
		"a key":               func(l *slog.Logger) { l.Error("x", "error", errors.New("bad key sk-"+canary)) },
		"a token":             func(l *slog.Logger) { l.Error("x", "error", errors.New("bad "+canary+"0123456789abcdefghij")) },
		"a password":          func(l *slog.Logger) { l.Error("x", "error", errors.New("password="+canary)) },
		"a bearer":            func(l *slog.Logger) { l.Error("x", "error", errors.New("Authorization: Bearer "+canary)) },
		"a private key":       func(l *slog.Logger) { l.Error("x", "error", errors.New("-----BEGIN KEY-----\n"+canary+"\n")) },
		"the message":         func(l *slog.Logger) { l.Info("got \"" + canary + "\"") },
		"a group":             func(l *slog.Logger) { l.Info("x", slog.Group("g", "body", canary)) },
		"attributes before":   func(l *slog.Logger) { l.With("body", canary).Info("x") },
		"a group before":      func(l *slog.Logger) { l.WithGroup("g").Info("x", "body", canary) },
		"a value":             func(l *slog.Logger) { l.Info("x", "error", struct{ Text string }{canary}) },
		"bytes":               func(l *slog.Logger) { l.Info("x", "error", []byte(canary)) },
		"an event":            func(l *slog.Logger) { l.Info("x", "kind", hook.Event{Text: canary}) },
		"a valuer":            func(l *slog.Logger) { l.Info("x", "body", late(canary)) },
		"a stringer":          func(l *slog.Logger) { l.Info("x", "session", floodmark.Problems{{Text: canary}}) },
		"the end of long one": func(l *slog.Logger) { l.Info("x", "error", strings.Repeat("ab ", maxLogText)+canary) },
	} {
		if text := logged(f); strings.Contains(text, canary) || !strings.Contains(text, "msg=") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := logged(func(l *slog.Logger) { l.Error("x", "error", errors.New("typed bf619df9 wrongly")) }); strings.Contains(text, "bf619df9") {
		t.Errorf("a code: %s", text)
	}
}

type late string

func (l late) LogValue() slog.Value { return slog.StringValue(string(l)) }

// Texts that help to find a fault are kept.
func TestTheLogStillSaysSomething(t *testing.T) {
	text := logged(func(l *slog.Logger) {
		l.Error("sign the journal's heads", "error", &fs.PathError{Op: "open", Path: "/var/lib/floodmark/journal.db", Err: fs.ErrPermission})
		l.Info("a new policy holds", "file", "/etc/floodmark/policy.yaml", "digest", "bf619df9", "n", 7, "took", time.Second, "ok", true)
		l.Error("x", "error", &monitor.Refusal{Reason: "too much is happening at once", Err: monitor.ErrBusy})
		l.Error("x", "error", context.DeadlineExceeded, "kind", "store-changed")
	})
	for _, want := range []string{
		"open /var/lib/floodmark/journal.db: permission denied", "/etc/floodmark/policy.yaml", "digest=bf619df9", "n=7", "took=1s", "ok=true",
		"too much is happening at once (busy)", "context deadline exceeded", "kind=store-changed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// FuzzScrub checks that no code and no quoted text survives any surrounding.
func FuzzScrub(f *testing.F) {
	f.Add("before ", " after")
	f.Add("\"", "\"")
	f.Add("`x", "-----BEGIN")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, hidden := range []string{" \"canary seven\" ", " sk-canary ", " https://canary.example/x ", " canary@firm.example "} {
			got := scrub(before + hidden + after)
			if strings.Contains(got, "canary") && !strings.Contains(before+after, "canary") && !strings.ContainsAny(before+after, "\"`") {
				t.Errorf("%q + %q + %q became %q", before, hidden, after, got)
			}
			if len(got) > maxLogText+len("…") {
				t.Errorf("%d bytes", len(got))
			}
		}
	})
}
