package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var serveTools = flag.String("tools", "", "be a server of tools on standard input instead, and write what is sent to this file")

// The one tool of the server. It is in no catalog.
const (
	mcpName = "outbox"
	mcpTool = "dispatch"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *serveTools == "" {
		os.Exit(m.Run())
	}
	offered := outboxTools()
	if *serveHub {
		offered = hubTools()
	}
	if *serveDesk != "" {
		if err := beDesk(*serveTools, *serveDesk); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := serveMCP(os.Stdin, os.Stdout, *serveTools, offered); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mcpServer returns how an agent starts the server, which is this test program.
func (w *world) mcpServer() (name string, args []string) {
	w.t.Helper()
	name, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	if w.hub {
		return name, []string{"-hub", "-tools", w.dispatched()}
	}
	return name, []string{"-tools", w.dispatched()}
}

// A toolServer is one of the agent's servers: the owner's name for it, and its command.
type toolServer struct {
	name    string
	command []string
}

// servers returns the servers that the agent is given.
func (w *world) servers() []toolServer {
	w.t.Helper()
	if !w.tools {
		return nil
	}
	if w.desk {
		return w.deskServers()
	}
	name, args := w.mcpServer()
	server := toolServer{mcpName, append([]string{name}, args...)}
	if w.hub {
		server.name = hubName
	}
	return []toolServer{server}
}

// An offer is one tool of the server, with its only argument and its result.
type offer struct{ name, about, arg, gives string }

func outboxTools() []offer {
	return []offer{{mcpTool, "Sends a text.", "text", "dispatched"}}
}

// dispatched is the file to which the server writes what it was asked to send.
func (w *world) dispatched() string { return filepath.Join(w.home, "dispatched") }

// serveMCP speaks the model context protocol, one message on each line. It writes each call to a
// file, one on each line.
func serveMCP(in io.Reader, out io.Writer, path string, offered []offer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string          `json:"protocolVersion"`
				Name      string          `json:"name"`
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
			var tools []any
			for _, o := range offered {
				tools = append(tools, map[string]any{
					"name": o.name, "description": o.about,
					"inputSchema": map[string]any{"type": "object", "properties": map[string]any{o.arg: map[string]string{"type": "string"}}},
				})
			}
			result = map[string]any{"tools": tools}
		case "tools/call":
			if err := called(path, req.Params.Name, req.Params.Arguments); err != nil {
				return err
			}
			at := slices.IndexFunc(offered, func(o offer) bool { return o.name == req.Params.Name })
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": offered[max(at, 0)].gives}}}
		}
		if err := json.NewEncoder(out).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// called records a call.
func called(path, name string, args json.RawMessage) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", name, args)
	return errors.Join(err, f.Close())
}

// object returns a value as JSON.
func object(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
