package mcpshare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcpjson"
)

// text reads a text; empty is none.
func text(raw json.RawMessage) string {
	s, _ := mcpjson.Text(raw)
	return s
}

// withToken returns parameters with another progress token if they have one, and the one they had.
// It writes parameters that could be read in two ways anew, each key once, and refuses them where a
// lenient reader could take one key for another.
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

// one refuses keys that differ from a known one by case only.
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
