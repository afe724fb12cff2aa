package mcppins

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"
)

// For any bytes of a server: what is shown is readable JSON without hidden characters, has one
// canonical form, and is shown again.
func FuzzDefinition(f *testing.F) {
	f.Add("sum", []byte(`{"name":"sum","description":"adds","inputSchema":{"type":"object"}}`))
	f.Add("sum", []byte(`{"name":"sum","n":1e400,"a":[1,-0.0,null,true,{}],"name":2}`))
	f.Add("t\u200b", []byte("{\"name\":\"t\u200b\",\"d\":\"\\ud800\"}"))
	f.Add("t", []byte(`{"name":"t"} x`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		book := &file{Format: format, Servers: map[string]*server{}}
		look := func() Verdict {
			j := judge{file: book, server: "s", builtins: shipped, now: time.Unix(0, 0)}
			return j.see("c", []Definition{{"s", Tool, name, body}})[0]
		}
		v := look()
		if again := look(); again != v {
			t.Errorf("%+v, then %+v", v, again)
		}
		if !utf8.ValidString(v.Line) || hidden(v.Line) != "" {
			t.Errorf("a line hides something: %q", v.Line)
		}
		if v.Held {
			return
		}
		r, err := readBody(body)
		if err != nil || !json.Valid(r.canonical) {
			t.Fatalf("shown, and cannot be read: %v", err)
		}
		twice, err := readBody(r.canonical)
		if err != nil || !bytes.Equal(twice.canonical, r.canonical) {
			t.Errorf("%s, then %s: %v", r.canonical, twice.canonical, err)
		}
		if bytes.ContainsAny(r.canonical, "\u200b\u202e\x1b\U000e0041") {
			t.Errorf("shown: %q", r.canonical)
		}
	})
}

// A file is refused, or writing it again gives the same bytes.
func FuzzFile(f *testing.F) {
	b := openBook(f)
	see(f, b, tool("calc", "sum", "adds"))
	see(f, b, tool("calc", "sum", "adds\u200b"))
	data, err := os.ReadFile(b.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"servers":{}}`))
	f.Add([]byte(`{"format":1,"servers":{"a":{"identities":[{}],"definitions":{"":{}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "pins")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path)
		if err != nil {
			return
		}
		b.builtins = shipped
		if _, err := b.Entries(); err != nil {
			t.Error(err)
		}
		if v := see(t, b, tool("new", "weather_here", "x")); v[0].Held && v[0].Reason != Changed && v[0].Reason != NewCommand && v[0].Reason != Rejected && v[0].Reason != Shadow {
			t.Errorf("%+v", v)
		}
		if _, err := Open(path); err != nil {
			t.Errorf("what we wrote cannot be read: %v", err)
		}
	})
}
