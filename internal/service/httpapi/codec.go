package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/wire"
)

// strictJSON encodes messages as JSON. Unlike Connect's own codec it refuses unknown fields,
// because a misspelled field would silently have its safest value, with no error to explain it.
type strictJSON struct{ name string }

// binary encodes messages as protobuf. Unknown fields of newer callers are dropped, because by the
// rules of the API their absence is the safest value.
type binary struct{}

// codecs returns all encodings that our handlers accept. Connect knows JSON under two names.
func codecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(strictJSON{"json"}), connect.WithCodec(strictJSON{"json; charset=utf-8"}), connect.WithCodec(binary{}),
		connect.WithCompression("gzip", nil, nil),
	)
}

// heard is an event as it arrived, or why it could not be read. Connect would answer an unreadable
// event with an error of its own; with heard it reaches the handler, which answers with a
// restricting reply.
type heard struct {
	event wire.Event
	err   error
}

func (c strictJSON) Name() string { return c.name }

func (strictJSON) Marshal(m any) ([]byte, error) {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", m)
	}
	return protojson.Marshal(msg)
}

func (strictJSON) Unmarshal(data []byte, m any) error {
	switch m := m.(type) {
	case *heard:
		if data, m.err = argsAsText(data); m.err == nil {
			m.err = withoutContent(protojson.Unmarshal(data, &m.event))
		}
		return nil
	case proto.Message:
		return protojson.Unmarshal(data, m)
	}
	return fmt.Errorf("%T is no message", m)
}

func (binary) Name() string { return "proto" }

func (binary) Marshal(m any) ([]byte, error) {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", m)
	}
	return proto.Marshal(msg)
}

func (binary) Unmarshal(data []byte, m any) error {
	switch m := m.(type) {
	case *heard:
		m.err = proto.Unmarshal(data, &m.event)
		return nil
	case proto.Message:
		return proto.Unmarshal(data, m)
	}
	return fmt.Errorf("%T is no message", m)
}

// argsAsText turns call arguments that were sent as JSON values into strings, digit for digit, as
// the message requires. Everything else is left to the message decoder.
func argsAsText(data []byte) ([]byte, error) {
	w := argsWriter{dec: json.NewDecoder(bytes.NewReader(data)), data: data}
	if err := w.object(map[string]func() error{
		"call":  w.call,
		"calls": func() error { return w.array(w.call) },
	}); err != nil {
		return nil, fmt.Errorf("not the JSON of an event: %w", err)
	}
	return append(w.out, data[w.done:]...), nil
}

type argsWriter struct {
	dec  *json.Decoder
	data []byte
	out  []byte
	done int64 // how many bytes of data are in out
}

func (w *argsWriter) call() error { return w.object(map[string]func() error{"args": w.args}) }

// args replaces one value, unless it is a string or null.
func (w *argsWriter) args() error {
	var raw json.RawMessage
	if err := w.dec.Decode(&raw); err != nil {
		return err
	}
	if raw[0] == '"' || raw[0] == 'n' {
		return nil
	}
	end := w.dec.InputOffset()
	quoted, err := json.Marshal(string(raw))
	if err != nil {
		return err
	}
	w.out = append(w.out, w.data[w.done:end-int64(len(raw))]...)
	w.out, w.done = append(w.out, quoted...), end
	return nil
}

// object walks an object and calls the visitor of each named field. Other values are left alone.
func (w *argsWriter) object(into map[string]func() error) error {
	return w.each('{', func() error {
		key, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("a key is no string")
		}
		if visit := into[name]; visit != nil {
			return visit()
		}
		return w.skip()
	})
}

func (w *argsWriter) array(visit func() error) error { return w.each('[', visit) }

// each visits the elements of an object or list. Any other value is skipped.
func (w *argsWriter) each(open json.Delim, visit func() error) error {
	first, err := w.dec.Token()
	if err != nil {
		return err
	}
	if d, ok := first.(json.Delim); ok && d != open {
		return fmt.Errorf("found %s where %s was expected", d, open)
	} else if !ok {
		return nil
	}
	for w.dec.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err = w.dec.Token()
	return err
}

func (w *argsWriter) skip() error {
	var raw json.RawMessage
	return w.dec.Decode(&raw)
}

var (
	jsonPlace    = regexp.MustCompile(`\(line (\d+:\d+)\)`)
	jsonNewField = regexp.MustCompile(`(unknown|duplicate) field "[A-Za-z0-9_.-]{1,64}"`)
)

// withoutContent returns what is wrong with the JSON of an event and where. The decoder's own error
// would quote the value, which may be untrusted text, and a reply reaches the model.
func withoutContent(err error) error {
	if err == nil {
		return nil
	}
	said, where := jsonNewField.FindString(err.Error()), "somewhere"
	if said == "" {
		said = "a value that does not fit its field"
	}
	if m := jsonPlace.FindStringSubmatch(err.Error()); m != nil {
		where = "at line:column " + m[1]
	}
	return fmt.Errorf("%s %s", said, where)
}
