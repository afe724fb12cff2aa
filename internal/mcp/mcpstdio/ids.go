package mcpstdio

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// The SDK keeps a numeric id as an integer of 64 bits, made from a float. Large numbers lose their
// last digits and fractions what follows the point, so two requests could get the same id. Such a
// number is kept as a text that no message may have for an id, and written again as it was.

// numberID begins the text that replaces a number.
const numberID = "\x00number "

// maxIDNumber bounds the length of a number. Below maxExact, floats of different whole numbers
// differ.
const (
	MaxIDNumber = 64
	maxExact    = 1 << 53
)

var errOddID = errors.New("its id is neither a plain text nor a number of a usual length")

// keptID returns an id of a message in a form that loses nothing.
func keptID(v json.RawMessage) (json.RawMessage, error) {
	if strictjson.IsNull(v) {
		return v, nil
	}
	if said, err := strictjson.Text(v); err == nil {
		if strings.HasPrefix(said, numberID) {
			return nil, errOddID
		}
		return v, nil
	}
	f, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err == nil && f == math.Trunc(f) && math.Abs(f) < maxExact:
		return v, nil
	case len(v) > MaxIDNumber || v[0] != '-' && (v[0] < '0' || v[0] > '9'):
		return nil, errOddID
	}
	return strictjson.Quote(numberID + string(v)), nil
}

// IDOf reads an id.
func IDOf(v json.RawMessage) (jsonrpc.ID, bool) {
	kept, err := keptID(v)
	if err != nil || strictjson.IsNull(kept) {
		return jsonrpc.ID{}, false
	}
	var raw any
	if json.Unmarshal(kept, &raw) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(raw)
	return id, err == nil && id.IsValid()
}

// encode writes a message, with its id as it was read.
func encode(m jsonrpc.Message) ([]byte, error) {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	var id jsonrpc.ID
	switch m := m.(type) {
	case *jsonrpc.Request:
		id = m.ID
	case *jsonrpc.Response:
		id = m.ID
	}
	said, ok := id.Raw().(string)
	if !ok || !strings.HasPrefix(said, numberID) {
		return data, nil
	}
	list, err := strictjson.Members(data)
	if err != nil {
		return nil, err
	}
	return strictjson.Object(strictjson.With(list, "id", json.RawMessage(strings.TrimPrefix(said, numberID)))), nil
}
