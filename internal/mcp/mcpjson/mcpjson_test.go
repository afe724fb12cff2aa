package mcpjson_test

import (
	"encoding/json"
	"testing"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

func TestFieldsAndBack(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, `null`: `{}`, `{}`: `{}`, `{"b":"<a&b>","a":[1,2.50],"_x":null}`: `{"_x":null,"a":[1,2.50],"b":"<a&b>"}`,
	} {
		said, err := mcpjson.Fields(json.RawMessage(in))
		if got := string(mcpjson.Encode(said)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{`[]`, `1`, `"x"`, `{`} {
		if said, err := mcpjson.Fields(json.RawMessage(in)); err == nil || said == nil {
			t.Errorf("%s: %v, %v", in, said, err)
		}
	}
}

func TestTokenKey(t *testing.T) {
	for in, want := range map[string]string{
		``: "", `null`: "", `{}`: "", `[1]`: "", `1`: "n1", `"1"`: "s1", `""`: "s", `"\u0031"`: "s1", `1.0`: "n1.0",
	} {
		if got := mcpjson.TokenKey(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestID(t *testing.T) {
	for in, want := range map[string]bool{``: false, `null`: false, `{}`: false, `1`: true, `"a"`: true} {
		if _, ok := mcpjson.ID(json.RawMessage(in)); ok != want {
			t.Errorf("%s: %v", in, ok)
		}
	}
}
