// Package mcpjson splits the parameters and results of MCP messages into fields and joins them
// again. Unknown fields stay as they were.
package mcpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Fields reads the fields of a JSON object, each as it was written. No bytes, and null, are an
// empty object.
func Fields(raw json.RawMessage) (map[string]json.RawMessage, error) {
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

// Encode encodes fields that Fields returned, or plain values. It does not escape text for HTML.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode: %v", err)) // raw values were read before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Text reads a JSON string, and reports whether raw is one.
func Text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// ID reads the id of a call, and reports whether it is valid.
func ID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// TokenKey returns a key for comparing progress tokens, in which 1 differs from "1". It is empty if
// there is no valid token.
func TokenKey(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil || raw[0] == '{' || raw[0] == '[' || b.String() == "null" {
		return ""
	}
	if s, ok := Text(raw); ok {
		return "s" + s
	}
	return "n" + b.String()
}

// Refuse returns an error as the answer to a call.
func Refuse(id jsonrpc.ID, code int64, message string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}}
}
