package daemon

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// A canary is a word that stands for content. It must be found in nothing that
// telemetry shows, and in the journal only where the design keeps it.
type canary struct {
	what, word string
	journaled  bool
}

// canaries has one word for every place an agent, a person or a stranger can
// put text. They hold no character that an encoding would write otherwise.
func canaries() []canary {
	return []canary{
		{"the owner's message", "canaryowner1x", true},
		{"a quoted part", "canaryquote2x", false},
		{"an assembled source", "canarysource3x", false},
		{"a message to the model", "canarymodel4x", false},
		{"a critical argument", "canarycritical5x", true}, // its short form is shown to people
		{"a content argument", "canarybody6x", false},
		{"an address that was read", "canaryhost7x", true}, // it is an origin's place
		{"a tool's result", "canaryresult8x", false},
		{"a secret", "canarysecret9x", false},
		{"a secret in a plain argument", "canaryplain28x", false},
		{"an answer", "canaryanswer10x", false},
		{"a sub-agent's prompt", "canaryprompt11x", false},
		{"a sub-agent's result", "canaryended12x", false},
		{"an agent's name", "canaryagent13x", true},
		{"a tool's name", "canarytool14x", true},
		{"a server's name", "canaryserver15x", true},
		{"a call's name", "canarycall16x", true},
		{"a session's name", "canarysession17x", true},
		{"a sender", "canarysender18x", true},
		{"a folder", "canaryfolder19x", true},
		{"an unreadable event", "canaryraw20x", false},
		{"a name asked for", "canaryquery21x", false},
		{"why a session is erased", "canarywhy22x", true},
		{"a policy", "canarypolicy23x", false},
		{"a hosted tool's result", "canaryhosted24x", false},
		{"a summary", "canarysummary25x", false},
		{"an argument's name", "canaryfield26x", true},
		{"a path at the owner's door", "canarypath27x", true},
		{"what was found", "canaryfound29x", true},
		{"a bundle's note", "canarynote30x", false},
		{"a bundle's policy", "canarybundle31x", false},
		{"what a laptop joins with", "canaryenrol32x", false},
	}
}

// word returns a canary by what it stands for.
func word(what string) string {
	list := canaries()
	i := slices.IndexFunc(list, func(c canary) bool { return c.what == what })
	if i < 0 {
		panic("no canary for " + what)
	}
	return list[i].word
}

// forms are the ways in which a word can hide.
func forms(word string) [][]byte {
	list := [][]byte{[]byte(word), []byte(strings.ToUpper(word)), []byte(hex.EncodeToString([]byte(word)))}
	for shift := range 3 { // wherever it begins, these characters are in its base64
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + word))
		begin := []int{0, 2, 3}[shift]
		list = append(list, []byte(text[begin:len(text)-3]))
	}
	return list
}

// leaks names the outputs in which a word stands.
func leaks(outputs map[string][]byte, word string) (found []string) {
	for name, data := range outputs {
		for _, form := range forms(word) {
			if bytes.Contains(data, form) {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// The grep finds a leak in every output: a content attribute, a label, a field,
// a line of the log, as it is or encoded.
func TestALeakWouldBeFound(t *testing.T) {
	t.Parallel()
	leaked := word("a tool's result")
	span := &spans.Span{Name: "execute_tool exec", Attributes: []*common.KeyValue{{
		Key: "gen_ai.tool.call.result", Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: "so " + leaked}},
	}}}
	request := &collected.ExportTraceServiceRequest{ResourceSpans: []*spans.ResourceSpans{{ScopeSpans: []*spans.ScopeSpans{{Spans: []*spans.Span{span}}}}}}
	otlp, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "text", leaked)
	for name, data := range map[string][]byte{
		"a label":        []byte(`floodmark_decisions_total{tool="` + leaked + `"} 1`),
		"an attribute":   otlp,
		"a field":        []byte(`{"message":"` + leaked + `"}`),
		"a bare log":     log.Bytes(),
		"upper case":     []byte(strings.ToUpper(leaked)),
		"hexadecimal":    []byte(hex.EncodeToString([]byte("ab" + leaked))),
		"base64":         []byte(base64.StdEncoding.EncodeToString([]byte(leaked + "more"))),
		"shifted base64": []byte(base64.URLEncoding.EncodeToString([]byte("z" + leaked))),
		"base64 again":   []byte(base64.StdEncoding.EncodeToString([]byte("zz" + leaked + "z"))),
	} {
		if got := leaks(map[string][]byte{name: data}, leaked); len(got) != 1 {
			t.Errorf("%s: the leak is not found in %s", name, data)
		}
		if got := leaks(map[string][]byte{name: data}, word("a secret")); len(got) != 0 {
			t.Errorf("%s: a leak is found that is not there", name)
		}
	}
}

// A collector takes spans over the network and keeps every byte.
type collector struct {
	*httptest.Server
	mu    sync.Mutex // guards what is below
	raw   []byte
	names []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := io.ReadAll(z)
		var req collected.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(data, &req) != nil {
			http.Error(w, "not spans", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, data...)
		for _, rs := range req.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					c.names = append(c.names, s.GetName())
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// atTerminal takes every process for one with a terminal.
type atTerminal struct{ peer.System }

// Look implements [peer.Table].
func (a atTerminal) Look(pid int) (peer.Info, error) {
	info, err := a.System.Look(pid)
	info.Terminal = true
	return info, err
}

// A shown is a daemon with everything that shows anything switched on.
type shown struct {
	*runner
	daemon    *Daemon
	collector *collector
	events    string
	called    map[string]bool // the owner's commands
	asOwner   func(bool)
}

func startShown(t *testing.T) *shown {
	t.Helper()
	dir := t.TempDir()
	s := &shown{runner: &runner{paths: config.DirPaths(dir), log: &lockedBuffer{}}, collector: newCollector(t), events: filepath.Join(dir, "events.jsonl"), called: map[string]bool{}}
	o := options(dir, s.log)
	o.Log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Service = config.Service{Metrics: "127.0.0.1:0", Traces: s.collector.URL, Events: s.events, Bundles: believing()}
	ready := make(chan struct{})
	o.Ready = func() { close(ready) }
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	if s.daemon, err = Open(ctx, o); err != nil {
		cancel()
		t.Fatal(err)
	}
	var mu sync.Mutex
	owner := true
	s.asOwner = func(yes bool) { mu.Lock(); owner = yes; mu.Unlock() }
	s.daemon.gate.Table = atTerminal{}
	s.daemon.gate.Of = func(net.Conn) (pid, uid int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if owner {
			return os.Getppid(), os.Getuid(), nil
		}
		return os.Getpid(), os.Getuid(), nil
	}
	ended := make(chan error, 1)
	go func() { ended <- s.daemon.Run(ctx) }()
	<-ready
	s.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *shown) scrape(t *testing.T) []byte {
	t.Helper()
	resp, err := http.Get("http://" + s.daemon.metrics.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("scrape: %s, %v", resp.Status, err)
	}
	return data
}

// Telemetry shows no content, for any hook point and any command of the owner.
func TestNoContentIsShown(t *testing.T) {
	t.Parallel()
	s := startShown(t)
	codes := s.playAll(t)
	metrics := s.scrape(t)
	for _, p := range hook.Points() {
		if !bytes.Contains(metrics, []byte(`floodmark_events_total{point="`+string(p)+`"}`)) || bytes.Contains(metrics, []byte(`floodmark_events_total{point="`+string(p)+`"} 0`)) {
			t.Errorf("no canary went through %s", p)
		}
	}
	for command := range reflect.TypeFor[wire.OwnerServiceClient]().Methods() {
		if !s.called[command.Name] {
			t.Errorf("no canary went through the command %s", command.Name)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	events, err := os.ReadFile(s.events)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string][]byte{"metrics": metrics, "traces": s.collector.raw, "events": events, "log": []byte(s.log.String())}
	kept := journalBytes(t, s.paths)
	for _, c := range canaries() {
		if found := leaks(outputs, c.word); len(found) > 0 {
			t.Errorf("%s (%s) is in %v", c.what, c.word, found)
		}
		if got := bytes.Contains(kept, []byte(c.word)); got && !c.journaled {
			t.Errorf("%s (%s) is in the journal", c.what, c.word)
		}
	}
	for _, code := range codes {
		if found := leaks(outputs, code); len(found) > 0 || bytes.Contains(kept, []byte(code)) {
			t.Errorf("the code %s is in %v or in the journal", code, found)
		}
	}
	s.saySomething(t, metrics, events)
	if t.Failed() {
		t.Logf("log:\n%s", s.log)
	}
}

// saySomething makes sure that what was searched was worth searching.
func (s *shown) saySomething(t *testing.T, metrics, events []byte) {
	t.Helper()
	// The command and the watcher may both have read the bad file.
	refused := regexp.MustCompile(`floodmark_policy_reloads_total\{result="refused"\} [1-9]`)
	for name, ok := range map[string]bool{
		"decisions are counted":   bytes.Contains(metrics, []byte(`effect="send",verdict="confirm"`)),
		"strangers are counted":   bytes.Contains(metrics, []byte(`agent="other"`)),
		"a refused policy counts": refused.Match(metrics),
		"tools are traced":        slices.Contains(s.collector.names, "execute_tool web_fetch"),
		"strange tools, too":      slices.Contains(s.collector.names, "execute_tool other"),
		"models are traced":       slices.Contains(s.collector.names, "chat"),
		"incidents are logged":    strings.Contains(s.log.String(), "agent-at-owner-door"),
	} {
		if !ok {
			t.Errorf("not true: %s", name)
		}
	}
	for _, kind := range []string{"call-asked", "incident", "question-approved", "question-denied", "content-endorsed", "endorsement-withdrawn", "policy-refused"} {
		if !bytes.Contains(events, fmt.Appendf(nil, "%q", kind)) {
			t.Errorf("no security event %s", kind)
		}
	}
}

// journalBytes are the store's own files, so that nothing it keeps is missed.
func journalBytes(t *testing.T, p config.Paths) []byte {
	t.Helper()
	var all []byte
	files, err := filepath.Glob(p.Journal + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no journal: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	if !bytes.Contains(all, []byte(word("the owner's message"))) {
		t.Error("the owner's own words are not in the journal: this search finds nothing")
	}
	return all
}

// askHTTP sends bytes to a local socket as HTTP.
func askHTTP(t *testing.T, socket, path string, body []byte) {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	defer tr.CloseIdleConnections()
	u := url.URL{Scheme: "http", Host: "local", Path: path}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}
