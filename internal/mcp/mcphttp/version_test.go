package mcphttp

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newest is the first version without sessions.
const newest = "2026-07-28"

// The SDK's client of that version gets the supported versions, sends initialize, and works.
func TestAClientWithoutSessionsFindsItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{})
		next := g.net.transport()
		defer next.CloseIdleConnections()
		c, err := mcp.NewClient(&mcp.Implementation{Name: "new", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: g.url, MaxRetries: -1, HTTPClient: &http.Client{Transport: bearer{"new", "", next}},
		}, &mcp.ClientSessionOptions{ProtocolVersion: newest})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if got := c.InitializeResult().ProtocolVersion; got != versions()[0] {
			t.Errorf("they agreed on %s", got)
		}
		if got, err := call(t.Context(), c, "echo", "x", nil); err != nil || got != "x" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A foreign is a message in a version that is not supported.
type foreign struct{ header, body, requested string }

// A request in a version that is not supported gets the error of the specification, and no session
// begins.
func TestOtherVersionsAreRefusedByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{})
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `"}`
		for name, c := range map[string]foreign{
			"discover":         {newest, `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{` + meta + `}}`, newest},
			"by the message":   {"", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + meta + `}}`, newest},
			"by the header":    {newest, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, newest},
			"they differ":      {"2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",` + meta + `}}`, newest},
			"one of a batch":   {"", `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{` + meta + `}}]`, newest},
			"an old one":       {"2023-01-01", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`, "2023-01-01"},
			"no version":       {"", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`, "?"},
			"a very long one":  {strings.Repeat("9", 500), `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, strings.Repeat("9", maxVersion)},
			"initialize in it": {"", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{` + meta + `}}`, newest},
		} {
			g.refuses(t, name, c)
		}
		if g.Sessions() != 0 {
			t.Errorf("%d sessions were begun", g.Sessions())
		}
	})
}

// refuses checks that a message is refused, with the name of its version in the error.
func (g *gate) refuses(t *testing.T, name string, c foreign) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"Authorization": "Bearer secret-of-new", "Content-Type": "application/json", "Accept": "application/json, text/event-stream", versionHeader: c.header,
	} {
		if value != "" {
			req.Header.Set(key, value)
		}
	}
	res, err := (&http.Client{Transport: &http.Transport{DialContext: g.net.dial, DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		ID    int `json:"id"`
		Error struct {
			Code int                                `json:"code"`
			Data mcp.UnsupportedProtocolVersionData `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		t.Fatalf("%s: %s: %v", name, data, err)
	}
	if res.StatusCode != http.StatusBadRequest || said.ID != 7 || said.Error.Code != mcp.CodeUnsupportedProtocolVersion ||
		said.Error.Data.Requested != c.requested || !slices.Equal(said.Error.Data.Supported, versions()) {
		t.Errorf("%s: %d %s", name, res.StatusCode, data)
	}
}
