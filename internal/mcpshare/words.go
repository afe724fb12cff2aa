package mcpshare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// fields reads a JSON object. Nothing and null are an empty one.
func fields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	said := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return said, nil
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return map[string]json.RawMessage{}, errors.New("not an object")
	}
	if said == nil {
		said = map[string]json.RawMessage{}
	}
	return said, nil
}

// encode writes what fields read, or plain values, with each key once.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode: %v", err)) // raw values were read before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// idOf reads the id of a call.
func idOf(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// tokenKey makes a progress token comparable: 1 is not "1". Empty is none.
func tokenKey(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil || raw[0] == '{' || raw[0] == '[' || b.String() == "null" {
		return ""
	}
	if s := text(raw); s != "" {
		return "s" + s
	}
	return "n" + b.String()
}

// withToken returns parameters with another progress token where they have one,
// and the one they had. What could be read in two ways is written anew, each key
// once, and refused where a lenient reader could take one key for another.
func withToken(params, token json.RawMessage) (changed, original json.RawMessage, err error) {
	said, err := fields(params)
	if err != nil {
		return nil, nil, fmt.Errorf("params: %w", err)
	}
	if err := one(said, "_meta"); err != nil {
		return nil, nil, err
	}
	if said["_meta"] == nil {
		return params, nil, nil
	}
	meta, err := fields(said["_meta"])
	if err != nil {
		return nil, nil, fmt.Errorf("_meta: %w", err)
	}
	if err := one(meta, "progressToken"); err != nil {
		return nil, nil, err
	}
	original = meta["progressToken"]
	if tokenKey(original) == "" {
		delete(meta, "progressToken")
		original = nil
	} else {
		meta["progressToken"] = token
	}
	said["_meta"] = encode(meta)
	return encode(said), original, nil
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

func refuse(id jsonrpc.ID, code int64, message string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}}
}

func empty(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Result: json.RawMessage("{}")}
}
