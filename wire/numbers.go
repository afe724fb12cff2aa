package wire

import (
	"bytes"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Protobuf's JSON has 64-bit integers as strings, because not every program reads all of them.
// Counts are small, and scripts compare them, so they become numbers here. Times in nanoseconds are
// not small.
const nanoseconds = "at"

// Numbered writes the counts of a message's JSON as numbers. All else, including the order, stays
// as it is.
func Numbered(data []byte, d protoreflect.MessageDescriptor) ([]byte, error) {
	if d.FullName().Parent() == "google.protobuf" {
		return data, nil // a form of its own, such as a time
	}
	return parts(data, '{', func(dec *json.Decoder, out *bytes.Buffer) error {
		raw := json.RawMessage{}
		token, err := dec.Token()
		if err = errors.Join(err, dec.Decode(&raw)); err != nil {
			return err
		}
		name, _ := token.(string) // a key always is one
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

// parts goes through an object or a list and writes each part's replacement.
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
