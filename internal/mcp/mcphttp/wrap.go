package mcphttp

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The SDK's transport refuses methods that it does not know before we see them. New versions of MCP
// add methods, so such a message is wrapped in a ping or a known notification, and unwrapped after
// the transport.
const (
	carriesCall = "ping"
	carriesNote = "notifications/roots/list_changed"
	carried     = "dev.floodmark/carried"
)

type letter struct {
	Message *struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params,omitempty"`
	} `json:"dev.floodmark/carried"`
}

// known reports whether the SDK's transport passes a request by itself. Wrapping a request that the
// SDK knows is harmless.
func known(req *jsonrpc.Request) bool {
	switch req.Method {
	case "initialize", "ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover":
		return req.IsCall()
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel":
		return req.IsCall() && len(req.Params) > 0
	case "notifications/initialized", "notifications/roots/list_changed":
		return !req.IsCall()
	case "notifications/cancelled", "notifications/progress":
		return !req.IsCall() && len(req.Params) > 0
	}
	return false
}

func wrap(req *jsonrpc.Request) (json.RawMessage, error) {
	method := carriesNote
	if req.IsCall() {
		method = carriesCall
	}
	inside := map[string]any{"method": req.Method}
	if len(req.Params) > 0 {
		inside["params"] = req.Params
	}
	params, err := json.Marshal(map[string]any{carried: inside})
	if err != nil {
		return nil, fmt.Errorf("carry %q: %w", req.Method, err)
	}
	return jsonrpc.EncodeMessage(&jsonrpc.Request{ID: req.ID, Method: method, Params: params})
}

// unwrap takes out what wrap put in. A client that wraps its messages itself gains nothing, because
// the wrapped methods are unwrapped and checked like any other.
func unwrap(req *jsonrpc.Request) *jsonrpc.Request {
	plain := &jsonrpc.Request{ID: req.ID, Method: req.Method, Params: req.Params}
	if req.Method != carriesCall && req.Method != carriesNote || len(req.Params) == 0 {
		return plain
	}
	var l letter
	if json.Unmarshal(req.Params, &l) == nil && l.Message != nil {
		plain.Method, plain.Params = l.Message.Method, l.Message.Params
	}
	return plain
}
