package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestPathsFollowXDG(t *testing.T) {
	p, err := UserPaths(env(), "/home/anna")
	if err != nil {
		t.Fatal(err)
	}
	if p.Policy != "/home/anna/.config/floodmark/policy.yaml" || p.Journal != "/home/anna/.local/share/floodmark/journal.db" ||
		p.Witness != "/home/anna/.local/state/floodmark/witness" || p.HookSocket != "/home/anna/.local/state/floodmark/run/hook.sock" {
		t.Errorf("the usual places: %+v", p)
	}
	p, err = UserPaths(env("XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d", "XDG_STATE_HOME", "/s", "XDG_RUNTIME_DIR", "/r"), "/home/anna")
	if err != nil {
		t.Fatal(err)
	}
	if p.Policy != "/c/floodmark/policy.yaml" || p.Keys != "/d/floodmark/keys" || p.Running != "/s/floodmark/running" || p.OwnerSocket != "/r/floodmark/owner.sock" {
		t.Errorf("the places the variables say: %+v", p)
	}
	if p, err = UserPaths(env("XDG_CONFIG_HOME", "c"), "/home/anna"); err != nil || !strings.HasPrefix(p.Policy, "/home/anna/.config") {
		t.Errorf("a relative variable counts: %v %v", p.Policy, err)
	}
	for _, home := range []string{"", "anna"} {
		if _, err := UserPaths(env(), home); err == nil {
			t.Errorf("home %q is taken", home)
		}
	}
	if s := SystemPaths(); s.HookSocket != "/run/floodmark/hook.sock" || s.Journal != "/var/lib/floodmark/journal.db" {
		t.Errorf("system: %+v", s)
	}
}

func TestALongSocketPathIsRefused(t *testing.T) {
	// owner.sock below run is the longest name.
	tail := len(DirPaths("/").OwnerSocket)
	fits := DirPaths("/" + strings.Repeat("a", hookframe.MaxSocketPath-tail-1))
	if len(fits.OwnerSocket) != hookframe.MaxSocketPath {
		t.Fatalf("%d characters, want %d", len(fits.OwnerSocket), hookframe.MaxSocketPath)
	}
	if err := fits.CheckSockets(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := DirPaths("/" + strings.Repeat("a", hookframe.MaxSocketPath-tail)).CheckSockets(); err == nil {
		t.Error("one over the limit is taken")
	}
}

func TestServiceIsReadStrictly(t *testing.T) {
	s, err := ParseService("service.yaml", []byte(`version: 1
journal: {store: "postgres://fm@db/floodmark", keep: 90d, checkpoint: 10m}
listen: [{address: "0.0.0.0:7443", certificate: c.pem, key: k.pem, clientCA: ca.pem}]
metrics: 127.0.0.1:9464
`))
	if err != nil || time.Duration(s.Journal.Keep) != 90*24*time.Hour || time.Duration(s.Journal.Checkpoint) != 10*time.Minute || len(s.Listen) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := ParseService("service.yaml", nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	for text, want := range map[string]string{
		"version: 2":                  "version: 2 is not known",
		"jornal: {}":                  "line 1",
		"journal: {keep: ever}":       "line 1",
		"journal: {keep: 0d}":         "no number of days",
		"journal: {keep: -3h}":        "no length of time",
		"journal: {store: mysql://x}": "journal.store",
		"metrics: 0.0.0.0:9464":       "not a loopback address",
		"metrics: listen":             "there is no network door",
		"listen: [{address: \":1\"}]": "needs certificate and key",
		"listen: [{address: here}]":   "not host:port",
		"version: 1\n---\nversion: 1": "more than one document",
		"a: [":                        "line 1",
		"listen: [" + strings.Repeat("{address: \"a:1\", certificate: c, key: k},", maxListen+1) + "]": "at most",
	} {
		_, err := ParseService("service.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "service.yaml: ") || strings.Contains(err.Error(), "config.") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := ParseService("s", []byte("#"+strings.Repeat("x", maxServiceBytes-1))); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := ParseService("s", []byte("#"+strings.Repeat("x", maxServiceBytes))); err == nil {
		t.Error("one over the limit is taken")
	}
}

func FuzzParseService(f *testing.F) {
	f.Add([]byte("version: 1\njournal: {keep: 90d}\nlisten: [{address: \"a:1\", certificate: c, key: k}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseService("s", data)
		if err != nil {
			return
		}
		for _, l := range s.Listen {
			if l.Certificate == "" || l.Key == "" {
				t.Error("a network door without TLS")
			}
		}
	})
}

// If the policy has mistakes, the shipped one must never be used in its place.
func TestAWrongPolicyIsNotTheShippedOne(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	r, err := LoadRules(file)
	if err != nil || r.File != "" || r.Policy == nil || r.Catalog == nil {
		t.Fatalf("no file: %+v, %v", r, err)
	}
	if err := os.WriteFile(file, []byte("version: 1\nprofile: strict\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if strict, err := LoadRules(file); err != nil || strict.File != file || strict.Policy.Hash() == r.Policy.Hash() {
		t.Errorf("a good file: %v", err)
	}
	if err := os.WriteFile(file, []byte("version: 1\nprofil: strict\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var problems floodmark.Problems
	if r, err = LoadRules(file); !errors.As(err, &problems) || r.Policy != nil {
		t.Errorf("a wrong file: %+v, %v", r, err)
	}
	if r, err = LoadRules(dir); err == nil || r.Policy != nil {
		t.Errorf("a folder: %v", err)
	}
}

func TestKeysStayAndStaySecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	first, err := LoadKeys(dir, "floodmark.example/journal")
	if err != nil || !first.New {
		t.Fatal(first.New, err)
	}
	again, err := LoadKeys(dir, "floodmark.example/journal")
	if err != nil || again.New || again.Index != first.Index || again.Signing.Public != first.Signing.Public || first.Signing.Public == "" {
		t.Errorf("other keys at the second start: %v", err)
	}
	index := filepath.Join(dir, "index.key")
	if err := os.Chmod(index, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(dir, "x"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key others can read: %v", err)
	}
	for _, content := range []string{"short", strings.Repeat("x", 33)} {
		if err := errors.Join(os.Chmod(index, 0o600), os.WriteFile(index, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeys(dir, "x"); err == nil {
			t.Errorf("a key of %d bytes is taken", len(content))
		}
	}
	if err := errors.Join(os.Remove(index), os.Symlink("/dev/zero", index)); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(dir, "x"); err == nil {
		t.Error("a link is taken for a key")
	}
}

// The programs that agents start are beside the daemon.
func TestGuardedPrograms(t *testing.T) {
	at := func(name string, err error) []string { return programs(func() (string, error) { return name, err }) }
	if got := at("/opt/x/floodmark", nil); !slices.Equal(got, []string{"/opt/x/floodmark", "/opt/x/floodmark", "/opt/x/floodmark-hook", "/opt/x/floodmark-box"}) {
		t.Errorf("%v", got)
	}
	if got := at("/opt/x/agent", nil); !slices.Equal(got, []string{"/opt/x/agent"}) {
		t.Errorf("%v", got)
	}
	if got := at("/opt/x/floodmark", os.ErrNotExist); got != nil {
		t.Errorf("%v", got)
	}
}

func TestGuarded(t *testing.T) {
	place := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(place, link); err != nil {
		t.Fatal(err)
	}
	p := DirPaths(link) // nothing exists there yet
	p.HookSocket = "/tmp/x.sock"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.Originals, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pi.json": `{"v":1,"files":[{"path":"/srv/pi/x.ts"},{"path":"relative/x.ts"},{"path":"/srv/*"}]}`, "bad.json": `{`} {
		if err := os.WriteFile(filepath.Join(p.Originals, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CODEX_HOME", "/srv/agent")
	t.Setenv("OPENCLAW_CONFIG_PATH", "/srv/claw/x.json")
	t.Setenv("PI_CODING_AGENT_DIR", "relative")
	own, err := p.Guarded()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := LoadRules(p.Policy, own)
	if err != nil {
		t.Fatal(err)
	}
	writes := func(file string) bool {
		ref := floodmark.ToolRef{Agent: "openclaw", Name: "write"}
		return rules.Catalog.Classify(ref, []hook.Leaf{{Path: "path", Top: "path", Value: file}}, nil, catalog.Places{}).SelfProtected
	}
	for file, want := range map[string]bool{
		p.Policy: true, DirPaths(place).Policy: true, p.Tokens: true, p.HookSocket: true, p.OwnerSocket: true,
		p.Journal: true, p.Journal + "-wal": true, p.Keys + "/index.key": true, p.Witness + "/heads": true,
		self: true, self + ".bak": false, "/srv/agent/hooks.json": true, "/srv/agent/config.toml": true, "/srv/agent/notes.txt": false,
		"/srv/agent/.env": true, "/srv/claw/x.json": true, "/srv/claw/y.json": false, "relative/settings.json": false,
		"/srv/pi/x.ts": true, "/srv/pi/y.ts": false, "relative/x.ts": false, "/srv/z": false,
		link + "/notes": false, "/tmp/y.sock": false, filepath.Dir(p.Policy) + "/notes": false,
	} {
		if got := writes(file); got != want {
			t.Errorf("%s: guarded %v, want %v", file, got, want)
		}
	}
}

// Only an agent that is known to ask and to wait for the answer may be set to ask natively.
func TestAgentsThatAskThemselves(t *testing.T) {
	s, err := ParseService("service.yaml", []byte("agents:\n  openclaw: {ask: native}\n  claude-code: {ask: native}\n  codex: {}\n"))
	if err != nil || !slices.Equal(s.Native(), []string{"claude-code", "openclaw"}) {
		t.Errorf("%v, %v", s.Native(), err)
	}
	for text, want := range map[string]string{
		"agents: {codex: {ask: native}}":      "agents.codex.ask: it is not known to ask by itself",
		"agents: {cursor: {ask: native}}":     "agents.cursor.ask: it is not known",
		"agents: {claude-code: {ask: yes}}":   `agents.claude-code.ask: "yes" is not known`,
		"agents: {claude-code: {asks: here}}": "asks",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := (Service{}).Native(); got != nil {
		t.Errorf("%v", got)
	}
}

// Any client of the gateway may be named, and only named clients ask in their window.
func TestClientsThatAskInTheirWindow(t *testing.T) {
	s, err := ParseService("service.yaml", []byte("agents:\n  claude-code: {ask: native}\n  my client: {ask: elicitation}\n  cursor: {ask: elicitation}\n  codex: {}\n"))
	if err != nil || !slices.Equal(s.Elicits(), []string{"cursor", "my client"}) || !slices.Equal(s.Native(), []string{"claude-code"}) {
		t.Errorf("%v, %v, %v", s.Elicits(), s.Native(), err)
	}
	for name, ok := range map[string]bool{strings.Repeat("x", maxClientName): true, strings.Repeat("x", maxClientName+1): false, "": false, `a\u001bb`: false, `a\u200bb`: false} {
		if _, err := ParseService("service.yaml", []byte(`agents: {"`+name+`": {ask: elicitation}}`)); (err == nil) != ok {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if got := (Service{}).Elicits(); got != nil {
		t.Errorf("%v", got)
	}
}

// An agent whose settings are in the usual places does not change the rules.
func TestUsualPlacesAreTheSameRules(t *testing.T) {
	p := DirPaths(t.TempDir())
	p.Home = "/home/dev"
	hash := func() floodmark.Digest {
		t.Helper()
		own, err := p.Guarded()
		if err != nil {
			t.Fatal(err)
		}
		rules, err := LoadRules(p.Policy, own)
		if err != nil {
			t.Fatal(err)
		}
		return rules.Catalog.Hash()
	}
	record := func(path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(p.Originals, 0o700), os.WriteFile(filepath.Join(p.Originals, "x.json"), []byte(`{"files":[{"path":"`+path+`"}]}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	before := hash()
	record("/home/dev/.codex/hooks.json")
	if hash() != before {
		t.Error("a usual place changed the rules")
	}
	record("/srv/agent/hooks.json")
	if hash() == before {
		t.Error("another place did not")
	}
}
