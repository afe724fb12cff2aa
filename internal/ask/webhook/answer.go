package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark/verify"
)

// read reads an answer: one JSON object with exactly one key "decision", which must be "allow" or
// "deny". An ambiguous answer is a failure, but a deny is accepted even if its reason is not a
// text. Other keys are ignored. An answer need not have a requestId, because it comes on the
// request's own connection; if it has one, it must be id.
func read(data []byte, id string) (verify.Answer, *verify.Failure) {
	if len(data) > verify.MaxAnswerBytes {
		return verify.Answer{}, &verify.Failure{Kind: verify.TooLarge, Text: "its answer is longer than 64 KB"}
	}
	fields, err := fieldsOf(data)
	if err != nil {
		return verify.Answer{}, malformed(err.Error())
	}
	said, ok := fields["requestId"]
	if ok && (said.null || said.text != id) {
		return verify.Answer{}, malformed("it is the answer to another request")
	}
	reason := verify.Clean(fields["reason"].text)
	switch d := fields["decision"]; {
	case !d.here || d.null:
		return verify.Answer{}, malformed("it holds no decision")
	case d.text == "allow" && fields["reason"].odd:
		return verify.Answer{}, malformed("its reason is not a text")
	case d.text == "allow":
		return verify.Answer{Allow: true, Reason: reason}, nil
	case d.text == "deny":
		return verify.Answer{Reason: reason}, nil
	}
	return verify.Answer{}, malformed(`its decision is neither "allow" nor "deny"`)
}

func malformed(why string) *verify.Failure {
	return &verify.Failure{Kind: verify.Malformed, Text: "its answer was not understood: " + why}
}

// A field is the value of one of our keys in an answer.
type field struct {
	text       string
	here, null bool
	odd        bool // the value is not a text
}

// fieldsOf returns the known keys. It does not decode into a struct, because that would also accept
// keys in other case, and the last of two equal keys.
func fieldsOf(data []byte) (map[string]field, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not text in UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	known := map[string]field{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil, errors.New("it is not a JSON object")
		}
		name, ours := ourKey(key)
		if !ours {
			continue
		}
		if name != key || known[name].here {
			return nil, errors.New("it says " + name + " twice, or in other letters")
		}
		f := field{here: true, null: string(value) == "null"}
		if f.odd = !f.null && json.Unmarshal(value, &f.text) != nil; f.odd && name != "reason" {
			return nil, errors.New("its " + name + " is not a text")
		}
		known[name] = f
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("it is not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind it")
	}
	return known, nil
}

// ourKey returns which of our keys a key is, ignoring case.
func ourKey(key string) (string, bool) {
	for _, name := range []string{"decision", "reason", "requestId"} {
		if strings.EqualFold(name, key) {
			return name, true
		}
	}
	return "", false
}
