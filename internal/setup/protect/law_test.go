package protect

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// space draws what may stand between two words of JSON: spaces of all sorts,
// and comments, each with a number of its own.
func space(t *rapid.T, comments *int) string {
	text := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\r\n", "\t", "\n    "}).Draw(t, "space")
	switch rapid.IntRange(0, 9).Draw(t, "comment") {
	case 0:
		*comments++
		text += fmt.Sprintf("/* comment %d */", *comments)
	case 1:
		*comments++
		text += fmt.Sprintf("// comment %d\n", *comments)
	}
	return text
}

// someJSON draws a value as a person may have written it.
func someJSON(t *rapid.T, depth int, comments *int, names []string) string {
	sp := func() string { return space(t, comments) }
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = 4 // the file itself
	}
	if depth > 3 {
		kind %= 3
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "1.50", "-0", "1e3"}).Draw(t, "word")
	case 1, 2:
		return rapid.SampledFrom([]string{`"a"`, `""`, `"\u00e9\n\"//"`, `"/* no */"`, `"ü{["`}).Draw(t, "string")
	case 3:
		var list []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, sp()+someJSON(t, depth+1, comments, names)+sp())
		}
		return "[" + strings.Join(list, ",") + trailing(t, list) + sp() + "]"
	}
	var list []string
	for i := range rapid.IntRange(0, 4).Draw(t, "members") {
		name := rapid.SampledFrom(names).Draw(t, "name") + fmt.Sprint(i)
		list = append(list, sp()+`"`+name+`"`+sp()+":"+sp()+someJSON(t, depth+1, comments, names)+sp())
	}
	if hooks := depth == 0 && rapid.Bool().Draw(t, "hooks"); hooks {
		list = append(list, sp()+`"hooks":`+someHooks(t, comments))
	}
	return "{" + strings.Join(list, ",") + trailing(t, list) + sp() + "}"
}

// someHooks draws hooks of others.
func someHooks(t *rapid.T, comments *int) string {
	var list []string
	for _, event := range []string{"BeforeTool", "SessionStart", "PreToolUse", "Other"} {
		if rapid.Bool().Draw(t, event) {
			list = append(list, fmt.Sprintf(`%s"%s"%s: [%s{"hooks": [{"command": "theirs"}%s]}%s]`, space(t, comments), event,
				space(t, comments), space(t, comments), space(t, comments), space(t, comments)))
		}
	}
	return "{" + strings.Join(list, ",") + trailing(t, list) + space(t, comments) + "}"
}

func trailing(t *rapid.T, list []string) string {
	if len(list) > 0 && rapid.IntRange(0, 4).Draw(t, "trailing") == 0 {
		return ","
	}
	return ""
}

// However a person writes JSON: with ours in it everything else still means the
// same, a second time changes nothing, and taken out again without knowing what
// was before, meaning and comments are as they were.
func TestMergeLawOnAnyJSON(t *testing.T) {
	b := newBench(t)
	var files []file
	for _, agent := range []string{"claude-code", "gemini-cli", "cursor"} {
		files = append(files, b.have(agent)[0])
	}
	rapid.Check(t, func(t *rapid.T) {
		comments := 0
		text := space(t, &comments) + someJSON(t, 0, &comments, []string{"a", "model", "x y", "hooks-"}) + space(t, &comments)
		checkMerge(t, files[rapid.IntRange(0, len(files)-1).Draw(t, "agent")], text)
	})
}

// fataler is a test of either sort.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkMerge(t fataler, f file, text string) {
	t.Helper()
	old := content{true, []byte(text)}
	with, err := f.with(old)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	again, err := f.with(with)
	if err != nil || !again.same(with) {
		t.Fatalf("the second time (%v)\n%s\nbecomes\n%s", err, with.data, again.data)
	}
	without, err := f.without(with, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, with.data)
	}
	known, err := f.without(with, &old)
	if err != nil {
		t.Fatalf("%v: %s", err, with.data)
	}
	comment := regexp.MustCompile(`comment \d+`)
	for i, got := range []content{without, known} {
		if !reflect.DeepEqual(meant(t, old, f, i == 1), meant(t, got, f, i == 1)) {
			t.Fatalf("%s\nwith ours\n%s\nwithout\n%s", text, with.data, got.data)
		}
		for _, c := range comment.FindAllString(text, -1) {
			if !bytes.Contains(got.data, []byte(c)) {
				t.Fatalf("%s is lost: %s", c, got.data)
			}
		}
	}
}

// meant returns what a document means. A version that was not there may stay, or the file would be
// gone; if the earlier file is unknown, an empty list of hooks may go.
func meant(t fataler, c content, f file, known bool) any {
	t.Helper()
	if !c.there {
		return map[string]any{}
	}
	d, err := readDocument(c.data)
	if err != nil {
		t.Fatalf("%v: %s", err, c.data)
	}
	v, err := meaning(d.root)
	if err != nil {
		t.Fatalf("%v: %s", err, c.data)
	}
	m, is := v.(map[string]any)
	if !is {
		t.Fatalf("no object: %s", c.data)
	}
	if f.shipped == "cursor/hooks.json" {
		delete(m, "version")
	}
	if hooks, is := m["hooks"].(map[string]any); is && len(hooks) == 0 && !known {
		delete(m, "hooks")
	}
	return m
}

// A settings file of any bytes is refused, or edited so that it can be read and undone.
func FuzzJSONSettings(f *testing.F) {
	for _, seed := range []string{"{}", "", "{\"hooks\":{\"BeforeTool\":[1,]}}", "// x\n{}//", "\ufeff{}", "{\"hooks\":null,\"a\":[[]]}", `{"a":"floodmark-hook x"}`, `{"hooks":{"Z":[{"command":"/x/floodmark-hook a b"}]}}`} {
		f.Add([]byte(seed))
	}
	b := newBench(f)
	files := []file{b.have("gemini-cli")[0], b.have("codex")[0], b.have("opencode")[1]}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, one := range files {
			checkFuzzed(t, one, content{true, data})
		}
	})
}

// A config.toml of any bytes, likewise.
func FuzzTOMLSettings(f *testing.F) {
	for _, seed := range []string{"", "a = 1", "[features]", "features.x = 1\r\n", "web_search = 'x'\n[a]\n", "\ufeffx = [\n1]", "[[features]]", "[hooks.state.\"x\"] " + tomlTag + "\na=1 " + tomlTag, tomlWas + "a = 1\n"} {
		f.Add([]byte(seed))
	}
	one := newBench(f).have("codex")[1]
	one.trust = trustWants("/home/u/.codex/hooks.json", []trusted{{"stop:0:0", "sha256:1"}})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, one, content{true, data})
	})
}

func checkFuzzed(t *testing.T, one file, old content) {
	t.Helper()
	with, err := one.with(old)
	if err != nil {
		return
	}
	if again, err := one.with(with); err != nil || !again.same(with) {
		t.Fatalf("the second time (%v) %q becomes %q", err, with.data, again.data)
	}
	bare, err := one.without(with, nil)
	if err != nil {
		t.Fatalf("it cannot be undone: %v: %q", err, with.data)
	}
	if again, err := one.without(bare, nil); err != nil || !again.same(bare) {
		t.Fatalf("undone twice (%v) %q becomes %q", err, bare.data, again.data)
	}
	if _, err := one.with(bare); err != nil {
		t.Fatalf("undone it cannot be read: %v: %q", err, bare.data)
	}
}

// Codex's answer is foreign bytes.
func FuzzCodexAnswer(f *testing.F) {
	f.Add([]byte(`{"id":2,"result":{"data":[{"hooks":[{"key":"/x/hooks.json:stop:0:0","currentHash":"sha256:1","command":"/x/floodmark-hook codex Stop"}]}]}}` + "\n"))
	f.Add([]byte("{}\n{\"id\":2}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := hooksList(io.Discard, bytes.NewReader(data), "/x")
		if err != nil && list != nil {
			t.Error("an answer and an error")
		}
		for _, one := range list {
			if strings.Contains(one.Place, "hooks.json:") && !bytes.Contains(data, []byte("hooks.json:")) {
				t.Errorf("%q is from nowhere", one.Place)
			}
		}
	})
}
