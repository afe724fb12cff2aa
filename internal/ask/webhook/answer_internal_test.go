package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/floodmark/floodmark/verify"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("é", 600)
	for text, want := range map[string]verify.Answer{
		`{"decision":"allow"}`:                                   {Allow: true},
		" {\"decision\" : \"deny\"}\n":                           {},
		`{"decision":"deny","reason":"not\nnow"}`:                {Reason: "not now"},
		`{"decision":"deny","reason":null}`:                      {},
		`{"decision":"deny","reason":1}`:                         {},
		`{"reason":{"a":"b"},"decision":"deny"}`:                 {},
		`{"decision":"deny","reason":"` + long + `"}`:            {Reason: long[:1000]},
		`{"decision":"allow","requestId":"r1","more":{"a":[1]}}`: {Allow: true},
		`{"\u0064ecision":"allow"}`:                              {Allow: true},
		`{"x":{"decision":"deny"},"decision":"allow"}`:           {Allow: true},
	} {
		if got, err := read([]byte(text), "r1"); err != nil || got != want {
			t.Errorf("%.60s: %+v %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		``:                                       "not a JSON object",
		`allow`:                                  "not a JSON object",
		`"allow"`:                                "not a JSON object",
		`[{"decision":"allow"}]`:                 "not a JSON object",
		`{"decision":"allow"`:                    "not a JSON object",
		`{"decision":"allow",}`:                  "not a JSON object",
		`{decision:"allow"}`:                     "not a JSON object",
		`{"decision" "allow"}`:                   "not a JSON object",
		`<html>`:                                 "not a JSON object",
		`{}`:                                     "it holds no decision",
		`{"decision":null}`:                      "it holds no decision",
		`{"decision":true}`:                      "its decision is not a text",
		`{"decision":["allow"]}`:                 "its decision is not a text",
		`{"decision":"Allow"}`:                   `neither "allow" nor "deny"`,
		`{"decision":"allow "}`:                  `neither "allow" nor "deny"`,
		`{"decision":""}`:                        `neither "allow" nor "deny"`,
		`{"Decision":"allow"}`:                   "in other letters",
		`{"deci\u017fion":"allow"}`:              "in other letters",
		`{"decision":"deny","decision":"allow"}`: "it says decision twice",
		`{"decision":"deny","DECISION":"allow"}`: "it says decision twice",
		`{"decision":"allow","reason":1}`:        "its reason is not a text",
		`{"decision":"allow"}{"decision":"deny"}`: "something stands behind it",
		`{"decision":"allow"} x`:                  "something stands behind it",
		`{"decision":"allow","requestId":"r2"}`:   "the answer to another request",
		`{"decision":"allow","requestId":null}`:   "the answer to another request",
		`{"decision":"allow","requestId":1}`:      "its requestId is not a text",
		"{\"decision\":\"allow\",\"x\":\"\xff\"}": "not text in UTF-8",
	} {
		got, err := read([]byte(text), "r1")
		if err == nil || err.Kind != verify.Malformed || !strings.Contains(err.Text, want) || got.Allow {
			t.Errorf("%s: %+v %v, want %s", text, got, err, want)
		}
	}
}

func TestReadLimit(t *testing.T) {
	full := `{"decision":"allow"}`
	full += strings.Repeat(" ", verify.MaxAnswerBytes-len(full))
	if got, err := read([]byte(full), ""); err != nil || !got.Allow {
		t.Errorf("at the limit: %v", err)
	}
	if got, err := read([]byte(full+" "), ""); err == nil || err.Kind != verify.TooLarge || got.Allow {
		t.Errorf("over the limit: %+v %v", got, err)
	}
	deep := `{"x":` + strings.Repeat("[", 30000) + strings.Repeat("]", 30000) + `,"decision":"allow"}`
	if got, err := read([]byte(deep), ""); err == nil || got.Allow {
		t.Errorf("nested too deep: %+v %v", got, err)
	}
}

// FuzzRead checks that read accepts an allow only if every JSON reader reads it so.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"decision":"allow"}`, `{"decision":"deny","reason":"x"}`, `{"decision":"allow","decision":"deny"}`, `{"requestId":"r1"}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := read(data, "r1")
		if err != nil && (a != verify.Answer{} || err.Text == "" || err.Kind == "") {
			t.Fatalf("%+v %v", a, err)
		}
		if utf8.RuneCountInString(a.Reason) > verify.MaxReasonChars || verify.Clean(a.Reason) != a.Reason {
			t.Fatalf("%q", a.Reason)
		}
		if !a.Allow {
			return
		}
		var exact map[string]any
		if json.Unmarshal(data, &exact) != nil || exact["decision"] != "allow" {
			t.Fatalf("%q is taken for a yes", data)
		}
		var loose struct{ Decision string }
		if json.Unmarshal(data, &loose) != nil || loose.Decision != "allow" {
			t.Fatalf("%q can be read as another answer", data)
		}
	})
}
