package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/mcp/upstream"
)

const gatewayText = `version: 1
idle: 10m
servers:
  - name: files
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", /srv/notes]
    env: {API_KEY: "${FILES_KEY}"}
    dir: /srv
  - name: docs
    url: https://mcp.example/x
    headers: {Authorization: "Bearer ${DOCS_TOKEN}"}
`

func TestGateway(t *testing.T) {
	g, err := ParseGateway("gateway.yaml", []byte(gatewayText))
	if err != nil {
		t.Fatal(err)
	}
	if g.Listen != GatewayAddress || len(g.Servers) != 2 || g.Servers[0].Args[0] != "-y" || g.Servers[0].Dir != "/srv" || g.Servers[1].URL != "https://mcp.example/x" {
		t.Errorf("%+v", g)
	}
	t.Setenv("DOCS_TOKEN", "hush")
	if got, err := g.Servers[1].Headers["Authorization"].Reveal(); got != "Bearer hush" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := g.Servers[0].Env["API_KEY"].Reveal(); err == nil {
		t.Error("a variable that is not set is no key")
	}
	if text := fmt.Sprintf("%+v", g); strings.Contains(text, "hush") || strings.Contains(text, "DOCS_TOKEN") {
		t.Error(text)
	}
}

func TestGatewayRefuses(t *testing.T) {
	one := func(rest string) string { return "servers:\n  - name: a\n    " + rest + "\n" }
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key":           {"server: []", "line 1: there is no key server here"},
		"an unknown key of one":    {one("command: x\n    shard: true"), "line 4: there is no key shard here"},
		"nothing":                  {"", "servers: there is none"},
		"a version of the future":  {"version: 2", "version: 2 is not known"},
		"a door to the network":    {"listen: 0.0.0.0:1\n" + one("command: x"), "not a loopback address"},
		"two documents":            {one("command: x") + "---\n{}", "more than one document"},
		"neither command nor url":  {one("args: [x]"), "either a command or a url"},
		"both":                     {one("command: x\n    url: https://x"), "either a command or a url"},
		"a name with two meanings": {"servers: [{name: a__b, command: x}]", "servers[0]: name"},
		"the same name twice":      {"servers: [{name: a, command: x}, {name: a, command: y}]", `servers[1].name: "a" is there already`},
		"headers of a command":     {one("command: x\n    headers: {A: b}"), "write env"},
		"env of a url":             {one("url: https://x\n    env: {A: b}"), "belong to a command"},
		"http elsewhere":           {one("url: http://mcp.example/x"), "write https"},
		"a password in a url":      {one("url: https://a:b@mcp.example/x"), "use headers"},
		"a header of the protocol": {one("url: https://x\n    headers: {mcp-session-id: b}"), "belongs to the protocol"},
		"no header":                {one("url: https://x\n    headers: {\"a b\": b}"), "no name of a header"},
		"no variable":              {one("command: x\n    env: {\"a=b\": c}"), "no name of a variable"},
		"a dir somewhere":          {one("command: x\n    dir: y"), "not a full path"},
		"too many arguments":       {one("command: x\n    args: [" + strings.Repeat("a,", maxGatewayArgs) + "a]"), "args: 257"},
		"too much text":            {strings.Repeat("#", maxGatewayBytes+1), "more than"},
	} {
		if _, err := ParseGateway("g", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for name, text := range map[string]string{
		"most arguments": one("command: x\n    args: [" + strings.Repeat("a,", maxGatewayArgs-1) + "a]"),
		"shared":         one("command: x\n    shared: true"), "http here": one("url: http://localhost:1/x"), "http by number": one("url: \"http://[::1]:1/x\""),
		"most text": one("command: x") + strings.Repeat("#", maxGatewayBytes-len(one("command: x"))),
	} {
		if _, err := ParseGateway("g", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := "servers:\n"
	for i := range upstream.MaxServers + 1 {
		many += fmt.Sprintf("  - {name: s%d, command: x}\n", i)
	}
	if _, err := ParseGateway("g", []byte(many)); err == nil {
		t.Error("one server too many")
	}
}

func TestGatewayFileIsTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o602: false} {
		if err := os.WriteFile(path, []byte(gatewayText), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadGateway(path); (err == nil) != ok {
			t.Errorf("%v: %v", mode, err)
		}
		_ = os.Remove(path)
	}
	if _, err := ReadGateway(path); !os.IsNotExist(err) {
		t.Errorf("none: %v", err)
	}
}

func FuzzParseGateway(f *testing.F) {
	f.Add([]byte(gatewayText))
	f.Add([]byte("servers: [{name: a, url: http://localhost}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := ParseGateway("g", data)
		if err != nil {
			return
		}
		if !loopback(g.Listen) || len(g.Servers) == 0 {
			t.Errorf("%+v", g)
		}
		for _, s := range g.Servers {
			if upstream.CheckName(s.Name) != nil || (s.Command == "") == (s.URL == "") {
				t.Errorf("%+v", s)
			}
		}
	})
}
