// Package mcpjson splits the parameters and results of MCP messages and joins them again, with
// unknown fields as they were.
package mcpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Fields reads a JSON object. Nothing and null are an empty one. Unknown fields stay as they were.
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

// Encode writes what Fields read, or plain values, with each key once. It does not escape text for
// HTML.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode: %v", err)) // raw values were read before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Text reads a text; nothing else is one.
func Text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// ID reads the id of a call.
func ID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// TokenKey makes a progress token comparable: 1 is not "1". Empty is none.
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

// Refuse is the answer of an error to a call.
func Refuse(id jsonrpc.ID, code int64, message string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}}
}
