// Package factjson is the one encoding of each fact.
package factjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/floodmark/floodmark"
)

//go:generate go run generate.go

// MaxBytes bounds one encoded fact. A fact carries no content but the
// owner's own words, so a larger one is a bug or an attack.
const MaxBytes = 4 << 20

// usualBytes is the initial capacity, enough for most facts.
const usualBytes = 768

var errUnknown = errors.New("unknown kind")

// Encode returns f's kind and its one encoding.
func Encode(f floodmark.Fact) (kind string, body []byte, err error) {
	if body, err = Append(make([]byte, 0, usualBytes), f); err != nil {
		return "", nil, err
	}
	return floodmark.KindOf(f), body, nil
}

// Append appends f's one encoding.
func Append(dst []byte, f floodmark.Fact) ([]byte, error) {
	if f == nil {
		return nil, errors.New("encode fact: there is none")
	}
	c := plain{out: dst}
	if !c.write(f) {
		body, err := json.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", floodmark.KindOf(f), err)
		}
		c.out = append(dst, body...)
	}
	if size := len(c.out) - len(dst); size > MaxBytes {
		return nil, fmt.Errorf("encode %s: %d bytes, at most %d", floodmark.KindOf(f), size, MaxBytes)
	}
	return c.out, nil
}

// Decode is the inverse of [Encode]. It refuses unknown kinds and fields, because skipping one
// could make a session look cleaner than it is.
func Decode(kind string, body []byte) (floodmark.Fact, error) {
	if len(body) > MaxBytes {
		return nil, fmt.Errorf("decode %s: %d bytes, at most %d", kind, len(body), MaxBytes)
	}
	if f, ok := readPlain(kind, body); ok {
		return f, nil
	}
	f, err := read(kind, body)
	switch {
	case errors.Is(err, errUnknown):
		return nil, fmt.Errorf("unknown fact kind %q", kind)
	case err != nil:
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return f, nil
}

func readAs[F floodmark.Fact](body []byte, describe func(*plain, *F)) (floodmark.Fact, bool) {
	c := plain{in: body, reading: true}
	var f F
	describe(&c, &f)
	if c.odd || c.at != len(body) {
		return nil, false
	}
	return f, true
}

// decode reads a fact with encoding/json. A field that is missing in the body keeps its value in f.
func decode[F floodmark.Fact](body []byte, f F) (floodmark.Fact, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return f, nil
}
