package policy

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLayersThatCannotBe(t *testing.T) {
	data := []byte("version: 1\n")
	for _, c := range []struct {
		name   string
		layers []Layer
		want   string
	}{
		{"two users", []Layer{{Name: "a", Data: data}, {Name: "p", Data: data, Project: true}, {Name: "b", Data: data}}, "b:1:1: error: there are two user layers\n    load one of them, or mark the other as a project's"},
		{"two projects", []Layer{{Name: "a", Data: data, Project: true}, {Name: "b", Data: data, Project: true}, {Name: "c", Data: data}}, ""},
		{"auditor in a dry run", []Layer{{Name: "a", Data: []byte("version: 1\nprofile: dry-run\nauditor: {failMode: allow}\n")}}, ""},
	} {
		p, problems := Load(c.layers...)
		if (p == nil) != (c.want != "") || problems.Error() != c.want {
			t.Errorf("%s: %v %v", c.name, p != nil, problems)
		}
	}
	p, problems := Load(Layer{Name: "a", Data: []byte("version: 1\nauditor: {failMode: warn}\n")})
	if want := "a:2:21: warning: an auditor that does not answer lets through only what would be allowed without one; about all else a person is asked\n    nothing, if that is what you want; else failMode: block"; p == nil || problems.Error() != want {
		t.Errorf("auditor: %v %v", p != nil, problems)
	}
	if p, err := Shipped("lax"); p != nil || err == nil || err.Error() != `policy: no profile "lax" (there are assistant, coding, strict or dry-run)` {
		t.Errorf("%v", err)
	}
	if p, problems := assemble(nil, &document{profile: "lax"}, nil, nil); p != nil || problems.Error() != `lax:1:1: error: policy: no profile "lax"` {
		t.Errorf("%v", problems)
	}
}

// A problem in a condition is reported at its place in the file, however the
// condition is written.
func TestLocate(t *testing.T) {
	for name, when := range map[string]string{
		"first and last line": "'trsut < owner'",
		"plain":               "1   <=   trsut",
		"doubled quotes":      "'call.tool == ''a'' || trsut < 1'",
		"escaped quotes":      `"call.tool == \"a\" || trsut < 1"`,
		"escaped signs":       `"call.tool\x20==\u0020\"\U0001F600\\\\\" || trsut < 1"`,
		"escaped letters":     `"call.tool == \"\x41\u0041\U00000041\" || trsut < 1"`,
		"escaped tabs":        `"iteration\t<\t1\t||\ttrsut < 1"`,
		"spaces in quotes":    `"iteration  <  1  ||  trsut < 1"`,
		"folded quotes":       "\"iteration < 1 ||\n     trsut < 1\"",
		"not indented":        "\"iteration < 1 ||\ntrsut < 1\"",
		"continued":           "\"iteration < 1 || \\\n     trsut < 1\"",
		"continued twice":     "\"iteration \\\n   < 1 || \\\n     trsut < 1\"",
		"continued in a word": "\"itera\\\n   tion < 1 || trsut < 1\"",
		"folded single":       "'iteration < 1 ||\n\n   trsut < 1'",
		"folded plain":        "iteration < 1 ||\n   trsut < 1",
		"beyond letters":      "'call.tool == \"é😀\" || trsut < 1'",
		"plain quotes":        "'call.tool == \"a\\\\b\" || trsut < 1'",
		"literal":             "|\n      1 < 2 ||\n\n        trsut < 1\n   ",
	} {
		text := "{version: 1, rules: [{when: " + when + ", name: a, action: {verdict: audit}}]}"
		if name == "literal" {
			text = "version: 1\nrules:\n  - name: a\n    action: {verdict: audit}\n    when: " + when
		}
		before, _, _ := strings.Cut(text, "trsut")
		line := before[strings.LastIndexByte(before, '\n')+1:]
		want := fmt.Sprintf("f:%d:%d: error: undeclared reference to 'trsut'", strings.Count(before, "\n")+1, utf8.RuneCountInString(line)+1)
		if _, problems := Load(Layer{Name: "f", Data: []byte(text)}); len(problems) != 1 || !strings.HasPrefix(problems.Error(), want) {
			t.Errorf("%s: %v, want %s\n%s", name, problems, want, text)
		}
	}
}
