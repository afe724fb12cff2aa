package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var serveTools = flag.String("tools", "", "be a server of tools on standard input instead, and write what is sent to this file")

// The one tool of the server. Nobody's catalog knows it.
const (
	mcpName = "outbox"
	mcpTool = "dispatch"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *serveTools == "" {
		os.Exit(m.Run())
	}
	if err := serveMCP(os.Stdin, os.Stdout, *serveTools); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mcpServer is how an agent starts the server: this very program.
func (w *world) mcpServer() (name string, args []string) {
	w.t.Helper()
	name, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return name, []string{"-tools", w.dispatched()}
}

// dispatched is where the server writes what it was asked to send.
func (w *world) dispatched() string { return filepath.Join(w.home, "dispatched") }

// serveMCP speaks the model context protocol: one message a line.
func serveMCP(in io.Reader, out io.Writer, path string) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string          `json:"protocolVersion"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return err
		}
		if req.ID == nil {
			continue
		}
		var result any = struct{}{}
		switch req.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": req.Params.Version, "capabilities": map[string]any{"tools": struct{}{}},
				"serverInfo": map[string]string{"name": mcpName, "version": "1"},
			}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{
				"name": mcpTool, "description": "Sends a text.",
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]string{"type": "string"}}},
			}}}
		case "tools/call":
			if err := os.WriteFile(path, req.Params.Arguments, 0o600); err != nil {
				return err
			}
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": "dispatched"}}}
		}
		if err := json.NewEncoder(out).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// object writes settings.
func object(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
