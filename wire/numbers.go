package wire

import (
	"bytes"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Protobuf's JSON has 64-bit integers as strings, because some programs cannot read large numbers
// exactly. Our counts are small, and scripts compare them, so [Numbered] writes them as numbers.
// Fields named «at» are times in nanoseconds, which are not small, so they stay strings.
const nanoseconds = "at"

// Numbered returns a message's JSON with its counts as numbers. Everything else stays as it is,
// including the order.
func Numbered(data []byte, d protoreflect.MessageDescriptor) ([]byte, error) {
	if d.FullName().Parent() == "google.protobuf" {
		return data, nil // its JSON has a form of its own, such as a time
	}
	return parts(data, '{', func(dec *json.Decoder, out *bytes.Buffer) error {
		raw := json.RawMessage{}
		token, err := dec.Token()
		if err = errors.Join(err, dec.Decode(&raw)); err != nil {
			return err
		}
		name, _ := token.(string) // a key is always a string
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		out.Write(append(key, ':'))
		if f := d.Fields().ByJSONName(name); f != nil && !f.IsMap() {
			if raw, err = numberedField(raw, f); err != nil {
				return err
			}
		}
		out.Write(raw)
		return nil
	})
}

func numberedField(raw []byte, f protoreflect.FieldDescriptor) ([]byte, error) {
	if f.IsList() && len(raw) > 0 && raw[0] == '[' {
		return parts(raw, '[', func(dec *json.Decoder, out *bytes.Buffer) error {
			one := json.RawMessage{}
			if err := dec.Decode(&one); err != nil {
				return err
			}
			done, err := numberedValue(one, f)
			out.Write(done)
			return err
		})
	}
	return numberedValue(raw, f)
}

func numberedValue(raw []byte, f protoreflect.FieldDescriptor) ([]byte, error) {
	switch {
	case f.Message() != nil && raw[0] == '{':
		return Numbered(raw, f.Message())
	case (f.Kind() == protoreflect.Int64Kind || f.Kind() == protoreflect.Uint64Kind) && f.Name() != nanoseconds:
		return bytes.Trim(raw, `"`), nil
	}
	return raw, nil
}

// parts calls write for each part of an object or a list, to write the part's replacement.
func parts(data []byte, open byte, write func(*json.Decoder, *bytes.Buffer) error) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteByte(open)
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if err := write(dec, &out); err != nil {
			return nil, err
		}
	}
	out.WriteByte(open + 2) // in ASCII, closing brackets are two after opening ones
	return out.Bytes(), nil
}
