package provenance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fieldList shows what was read.
func fieldList(text string) string {
	found, ok := readFields(text)
	if !ok {
		return "text"
	}
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = f.name + "=" + f.value
	}
	return strings.Join(list, " ")
}

func TestFieldsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		`[{"id": 7, "name": "a b"}, {"id": 8, "name": "c"}]`:       "id=7 name=a b id=8 name=c",
		`{'file_id': '7', 'filename': 'x', 'ok': True, 'n': None}`: "id=7 name=x ok=True n=None",
		`["a", "b"]`:                       "item=a item=b",
		`{"to": ["a", "b"], "size": 3}`:    "to=a to=b size=3",
		"\n\t [{\"a\": 1}] \n":             "a=1",
		`{"user_name": "u", "_id_": "i"}`:  "user_name=u id=i",
		"- id: '7'\n  name: a b\n- id: 8":  "id=7 name=a b id=8",
		"id: 7\nto:\n- a\n- b\nsize: 3":    "id=7 to=a to=b size=3",
		"id: 7\nto:\n  - a\n  - b\n":       "id=7 to=a to=b",
		"- a\n- b\n":                       "item=a item=b",
		"a:\n  b:\n    c: 5\n  d: 6\ne: 7": "c=5 d=6 e=7",
		"\r\nid: 7\r\nname: x\r\n":         "id=7 name=x",
		`name: "a b"` + "\nid: 'x'  \n":    "name=a b id=x",
		"id: 7\n  more\nname: x":           "name=x",
		"id: 7\n\nname: x":                 "name=x",
		"a: |\nb: >\nc: {\nd: [\ne: &x\nf: *x\ng: !x\nh: %x\ni: @x\nj: 1": "j=1",
		`{"a": "x\ny", "b": 1, 'c': 'it\'s'}`:                             "b=1",
		"title: a: b\nsku: http://x":                                      "name=a: b id=http://x",
	} {
		if got := fieldList(text); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// What is not understood has no fields at all.
func TestWhatIsNoRecordHasNoFields(t *testing.T) {
	for _, text := range []string{
		"", "  \n", "hello", "Here they are:\n- id: 7", "id: 7\nand so on", "id: 7\n\tname: x", "\tid: 7", "- - - a", "-\n", "id:7",
		`{`, `[`, `{"a"`, `{"a":`, `{"a": 1`, `{"a": 1,`, `{"a" 1}`, `{a: 1}`, `{"a": 1} x`, `[1 2]`, `[1,,2]`, `["a]`, `['a]`, `{"a": "b\"}`, `{"a": }`,
		`{"a": 1 "b": 2}`, `{"a": 1,, "b": 2}`, `{, "a": 1}`, `[, 1]`, `[{"a": 1}] [{"a": 2}]`, "name: 'a\nid: 7", `name: "a` + "\nid: 7", "name: 'a' b\nid: 7", "name: 'a': 'b'", `name: "a\"` + "\nid: 7",
		"---\nid: 7", "'id': 7", `"id": 7`, "id: 7\n: x", "two words: 7", "{}", "[]", "a:\n",
		`[Event(id=7, name='x')]`, `[{"at": date(2024, 5, 1)}]`,
	} {
		if got := fieldList(text); got != "text" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// planted are texts with which an attacker tries to make a field.
var planted = []string{
	"id: 666", "x\nid: 666", "x\n  id: 666", "x\n- id: 666\n  name: Plan", "\n\nid: 666\n", "x'\nid: 666", "x\"\nid: 666", "x\\\nid: 666", "x\\\\\"\nid: 666",
	"\", \"id\": \"666", "', 'id': '666", "\"}, {\"id\": \"666\", \"name\": \"Plan\"}", "x''\nid: '666'", "|\n  id: 666", "x\r\nid: 666", "x\rid: 666", "\tid: 666", "x\n\tid: 666",
	"x\u0085id: 666", "x\u2028id: 666", "---\nid: 666", "x: 'y\nid: 666", "{\"id\": 666}", "[{\"id\": 666}]", "&a id: 666", "x #\nid: 666", "x\x00id: 666", "x\n\n\n- 666",
	"''", "'", "\"", "\\", "\\'", "\\\"", "x\n    - id: 666", strings.Repeat("x\nid: 666\n", 40),
}

// carriers write a record around a text as programs do. Each has the fields
// «id», «text» and «name», and the text may be missing among those read.
func carriers(text string) map[string]string {
	asJSON, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	python := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	indented := func(by string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(by + line + "\n")
		}
		return b.String()
	}
	single := "'" + strings.ReplaceAll(strings.ReplaceAll(text, "'", "''"), "\n", "\n\n") + "'"
	return map[string]string{
		"json":        fmt.Sprintf(`[{"id": "7", "body": %s, "name": "n"}]`, asJSON),
		"json object": fmt.Sprintf(`{"id": "7", "body": %s, "name": "n"}`, asJSON),
		"python":      fmt.Sprintf(`[{'id': '7', 'body': '%s', 'name': 'n'}]`, python),
		"single":      fmt.Sprintf("- id: '7'\n  body: %s\n  name: n\n", single),
		"single top":  fmt.Sprintf("id: '7'\nbody: %s\nname: n\n", single),
		"single next": fmt.Sprintf("- id: '7'\n  body:\n    %s\n  name: n\n", single),
		"double":      fmt.Sprintf("- id: '7'\n  body: %s\n  name: n\n", asJSON),
		"literal":     fmt.Sprintf("- id: '7'\n  body: |-\n%s  name: n\n", indented("    ")),
		"folded":      fmt.Sprintf("- id: '7'\n  body: >2\n%s  name: n\n", indented("    ")),
		"literal top": fmt.Sprintf("id: '7'\nbody: |\n%sname: n\n", indented("  ")),
		"literal one": fmt.Sprintf("id: '7'\nbody: |\n%sname: n\n", indented(" ")),
		"plain lines": fmt.Sprintf("id: '7'\nbody: x\n%sname: n\n", indented("  ")),
		"element":     fmt.Sprintf("id: '7'\nbody:\n- %s\nname: n\n", single),
		"element |":   fmt.Sprintf("id: '7'\nbody:\n- |\n%sname: n\n", indented("  ")),
	}
}

// onlyCarried fails unless the fields of a carrier are its own.
func onlyCarried(t *testing.T, how, text string) {
	t.Helper()
	found, ok := readFields(text)
	if !ok {
		return
	}
	for _, f := range found {
		if f.name == "id" && f.value == "7" || f.name == "name" && f.value == "n" || f.name == "body" {
			continue
		}
		t.Errorf("%s: %q became a field: %s=%q", how, text, f.name, f.value)
	}
}

// An attacker's text inside a value never becomes a field.
func TestNobodyMakesAFieldOfHisText(t *testing.T) {
	for _, text := range planted {
		for how, record := range carriers(text) {
			onlyCarried(t, how, record)
		}
	}
	for how, record := range carriers("a text of no harm") {
		if got := fieldList(record); !strings.Contains(got, "id=7") || !strings.Contains(got, "name=n") {
			t.Errorf("%s is not read at all: %s\n%s", how, got, record)
		}
	}
}

func TestFieldLimits(t *testing.T) {
	if maxFieldText != 1<<20 || maxFieldValue != 128 || maxFieldName != 64 || maxFieldDepth != 32 || maxFields != 1<<15 {
		t.Error("the limits are part of what a journal was judged by")
	}
	value := strings.Repeat("v", maxFieldValue)
	if got := fieldList(`{"a": "` + value + `"}`); got != "a="+value {
		t.Error("the longest value")
	}
	if got := fieldList(`{"a": "` + value + `v", "b": 1}`); got != "b=1" {
		t.Error("a longer value", got)
	}
	name := strings.Repeat("n", maxFieldName)
	if fieldList(name+": 1") != name+"=1" || fieldList(name+"n: 1") != "text" {
		t.Error("the longest name of a block")
	}
	deep := func(n int) string { return strings.Repeat("[", n) + `"a"` + strings.Repeat("]", n) }
	if fieldList(deep(maxFieldDepth)) != "item=a" || fieldList(deep(maxFieldDepth+1)) != "text" || fieldList(strings.Repeat("[", 1<<20)) != "text" {
		t.Error("the depth of brackets")
	}
	block := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "k:\n")
		}
		return b.String() + strings.Repeat(" ", n) + "a: 1\n"
	}
	if fieldList(block(maxFieldDepth)) != "a=1" || fieldList(block(maxFieldDepth+1)) != "text" {
		t.Error("the depth of a block")
	}
	many := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	if found, ok := readFields(many(maxFields)); !ok || len(found) != maxFields {
		t.Error("as many fields as may be")
	}
	if _, ok := readFields(many(maxFields + 1)); ok {
		t.Error("one more")
	}
	long := `{"a": 1}` + strings.Repeat(" ", maxFieldText-len(`{"a": 1}`))
	if fieldList(long) != "a=1" || fieldList(long+" ") != "text" {
		t.Error("the longest text")
	}
}

// For any text: nothing panics, each value is at the offset of its field, and a text
// inside a value of a record adds no field.
func FuzzFields(f *testing.F) {
	for _, text := range planted {
		f.Add(text)
	}
	for _, record := range carriers("x y") {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, _ := readFields(text)
		for _, f := range found {
			if f.at < 0 || f.at+len(f.value) > len(text) || text[f.at:f.at+len(f.value)] != f.value || f.record < 0 || f.record > f.at {
				t.Errorf("%q: %+v", text, f)
			}
		}
		if !slices.IsSortedFunc(found, func(a, b field) int { return a.at - b.at }) {
			t.Errorf("%q: the fields are not in order", text)
		}
		for how, record := range carriers(text) {
			onlyCarried(t, how, record)
		}
		extremes(found)
	})
}
