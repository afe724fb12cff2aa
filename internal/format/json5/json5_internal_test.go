package json5

import (
	"fmt"
	"strings"
	"testing"
)

// dump writes a value in one way only, so that tests can compare.
func dump(v *Value) string {
	switch v.Kind {
	case String:
		return fmt.Sprintf("%q", v.Text)
	case Number:
		return "#" + v.Text
	case List:
		var items []string
		for _, item := range v.List {
			items = append(items, dump(item))
		}
		return "[" + strings.Join(items, " ") + "]"
	case Object:
		var members []string
		for _, m := range v.Members {
			members = append(members, fmt.Sprintf("%q:%s", m.Name, dump(m.Value)))
		}
		return "{" + strings.Join(members, " ") + "}"
	default:
		return v.Text
	}
}

func TestJSON5Values(t *testing.T) {
	for text, want := range map[string]string{
		"true": "true", "false": "false", "null": "null", " \t\r\n1 \n": "#1", "-1.5e3": "#-1.5e3", "+1": "#+1", ".5": "#.5", "5.": "#5.",
		"0x1F": "#0x1F", "1_000": "#1_000",
		`""`: `""`, `'it"s'`: `"it\"s"`, `"it's"`: `"it's"`, `"é😀"`: `"é😀"`,
		`"\n\t\r\b\f\v\0"`: `"\n\t\r\b\f\v\x00"`, `"\x41\u00e9\u0042"`: `"AéB"`, `"\"\'\\\/\q"`: `"\"'\\/q"`,
		"\"one \\\nline\"": `"one line"`, `"\u0041"`: `"A"`, `"\x4a"`: `"J"`,
		"[]": "[]", "[1, 'a',]": `[#1 "a"]`, "[[], {}]": "[[] {}]", "{}": "{}", "{a: 1,}": `{"a":#1}`, "{ a : 1 , b : { } }": `{"a":#1 "b":{}}`,
		`{$a_1: 1, "b c": 2, 'd': 3, é: 4, 5: 5}`: `{"$a_1":#1 "b c":#2 "d":#3 "é":#4 "5":#5}`,
		"// first\n1": "#1", "1 // last": "#1", "1 /* last */": "#1", "/**/1": "#1", "/* * / // */ [ /* in */ 1 /* out */ ] // end\n": "[#1]",
		"{ // one\n a /* two */ : /* three */ 1 // four\n , }": `{"a":#1}`,
		"\ufeff1": "#1", "\u00a01": "#1", "[1,\ufeff2]": "[#1 #2]",
		`"// no comment /* here"`: `"// no comment /* here"`,
	} {
		v, err := Parse("f", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := dump(v); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestJSON5Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"": "1:1: error: the file ends in the middle", "\x00": "1:1: error: this is not a value; texts are in quotes", "  ": "1:3: error: the file ends in the middle", "// x": "1:5: error: the file ends in the middle",
		"{": "1:2: error: a name is missing", "{,}": "1:2: error: a name is missing", "{a": "1:3: error: a colon is missing",
		"{a 1}": "1:4: error: a colon is missing", "{a:": "1:4: error: the file ends in the middle", "{a: 1": "1:6: error: a comma or } is missing",
		"{a: 1]": "1:6: error: a comma or } is missing", "[": "1:2: error: the file ends in the middle", "[1": "1:3: error: a comma or ] is missing",
		"[1 2]": "1:4: error: a comma or ] is missing", "[,]": "1:2: error: this is not a value", "1 2": "1:3: error: something follows the end",
		"{}\n}": "2:1: error: something follows the end", "{a: 1, \"a\": 2}": "1:8: error: \"a\" is here twice",
		"{\n  'a': 1,\n  a: 2\n}": "3:3: error: \"a\" is here twice", "{a: null, a: 2}": "1:11: error: \"a\" is here twice",
		"what": "1:1: error: this is not a value; texts are in quotes", " [@]": "1:3: error: this is not a value", "1.2.3": "1:1: error: this is not a value",
		"True": "1:1: error: this is not a value", "-": "1:1: error: this is not a value",
		`"ab`: "1:1: error: the text does not end", `[1, "ab`: "1:5: error: the text does not end", "\"a\nb\"": "1:1: error: the text does not end",
		`{"ab`: "1:2: error: the text does not end", "'ab\"": "1:1: error: the text does not end",
		`"é\u12"`: "1:4: error: this escape is not known", `"\u12G4"`: "1:3: error: this escape is not known", `"\x4`: "1:3: error: this escape is not known",
		`"\x+4"`: "1:3: error: this escape is not known", `"\`: "1:3: error: this escape is not known", `{"\xzz": 1}`: "1:4: error: this escape is not known",
		`"\u004`: "1:3: error: this escape is not known", `"\x41`: "1:1: error: the text does not end",
		"/* x": "1:1: error: the comment does not end", "[1, /* x": "1:5: error: the comment does not end", "1 /* x": "1:3: error: the comment does not end",
		"{/*": "1:2: error: the comment does not end", "{a /*": "1:4: error: the comment does not end", "{a: /*": "1:5: error: the comment does not end",
		"{a: 1 /*": "1:7: error: the comment does not end", "[/*": "1:2: error: the comment does not end", "[1\n/*/": "2:1: error: the comment does not end",
		"\xff": "1:1: error: the file is not UTF-8",
	} {
		v, err := Parse("f", []byte(text))
		if err == nil || v != nil || !strings.HasPrefix(err.Error(), "f:"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Each value knows where it begins.
func TestJSON5Places(t *testing.T) {
	v, err := Parse("f", []byte("\n {é: 'x\\\ny', b: [1,\n\t2]}"))
	if err != nil {
		t.Fatal(err)
	}
	place := func(v *Value) string { return fmt.Sprint(v.Line, ":", v.Column) }
	list := v.Get("b").List
	if got := strings.Join([]string{place(v), place(v.Get("é")), place(v.Get("b")), place(list[0]), place(list[1])}, " "); got != "2:2 2:6 3:8 3:9 4:2" {
		t.Error(got)
	}
	if v.Get("b", "c") != nil || v.Get("nope") != nil || v.Get("nope", "more") != nil || v.Get() != v {
		t.Error("a path that leads nowhere leads somewhere")
	}
	if v.Is("") || (*Value)(nil).Is("") || (&Value{Kind: String, Text: "true"}).Is("true") || !(&Value{Text: "true"}).Is("true") {
		t.Error("a word is taken for another")
	}
}

func TestJSON5Limits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	inObjects := func(n int) string { return strings.Repeat("{a:", n-1) + "1" + strings.Repeat("}", n-1) }
	many := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "]" }
	padded := func(n int) string { return "1" + strings.Repeat(" ", n-1) }
	for _, c := range []struct {
		name string
		text func(int) string
		most int
		says string
	}{
		{"lists", nested, maxDepth, "f:1:17: error: there is too much in this file, or it is nested too deep"},
		{"objects", inObjects, maxDepth, "f:1:49: error: there is too much"},
		{"values", many, maxNodes, "f:1:100000: error: there is too much"},
		{"bytes", padded, MaxBytes, "f:1:1: error: the file has 1048577 bytes, at most 1048576 are read"},
	} {
		if _, err := Parse("f", []byte(c.text(c.most))); err != nil {
			t.Errorf("%s: refused at the limit: %v", c.name, err)
		}
		if _, err := Parse("f", []byte(c.text(c.most+1))); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: beyond the limit: %v", c.name, err)
		}
	}
}
