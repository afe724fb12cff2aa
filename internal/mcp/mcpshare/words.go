package mcpshare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// text decodes a JSON string. It returns "" for anything else.
func text(raw json.RawMessage) string {
	s, _ := mcpjson.Text(raw)
	return s
}

// withToken replaces the progress token in parameters that have one, and returns the original
// token. If there is a _meta, it encodes the parameters anew with each key only once, so that the
// server reads the same values as we did. It refuses keys that a lenient reader could take for
// _meta or progressToken.
func withToken(params, token json.RawMessage) (changed, original json.RawMessage, err error) {
	said, err := mcpjson.Fields(params)
	if err != nil {
		return nil, nil, fmt.Errorf("params: %w", err)
	}
	if err := one(said, "_meta"); err != nil {
		return nil, nil, err
	}
	if said["_meta"] == nil {
		return params, nil, nil
	}
	meta, err := mcpjson.Fields(said["_meta"])
	if err != nil {
		return nil, nil, fmt.Errorf("_meta: %w", err)
	}
	if err := one(meta, "progressToken"); err != nil {
		return nil, nil, err
	}
	original = meta["progressToken"]
	if mcpjson.TokenKey(original) == "" {
		delete(meta, "progressToken")
		original = nil
	} else {
		meta["progressToken"] = token
	}
	said["_meta"] = mcpjson.Encode(meta)
	return mcpjson.Encode(said), original, nil
}

// one returns an error if there is another key that differs from key by case only.
func one(said map[string]json.RawMessage, key string) error {
	for k := range said {
		if k != key && strings.EqualFold(k, key) {
			return fmt.Errorf("%q could be taken for %q; write it exactly so", k, key)
		}
	}
	return nil
}

func empty(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Result: json.RawMessage("{}")}
}
