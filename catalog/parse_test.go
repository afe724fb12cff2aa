package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
)

// Every invalid file has a golden answer: the position of each mistake and its correction.
func TestWrongFilesAreExplained(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d wrong files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(filepath.Base(file), data)
			if got != nil || err == nil {
				t.Fatal("it was accepted")
			}
			var problems floodmark.Problems
			if !errors.As(err, &problems) || !problems.Failed() {
				t.Fatalf("no problems: %v", err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if problems.Error()+"\n" != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", problems.Error(), want)
			}
		})
	}
}

const minimal = `
server: mail
tools:
  - tool: read
    effect: fetch
    returns: {trust: external, secrecy: private}
`

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseLimits(t *testing.T) {
	pad := func(n int) []byte { return []byte(minimal + strings.Repeat("#", n-len(minimal)-1) + "\n") }
	if _, err := Parse("f", pad(MaxFileBytes)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Parse("f", pad(MaxFileBytes+1)); err == nil {
		t.Error("beyond the limit: accepted")
	}
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Parse("f", deep(MaxDepth)); err == nil || strings.Contains(err.Error(), "deep") {
		t.Errorf("at the depth limit: %v", err)
	}
	if _, err := Parse("f", deep(MaxDepth+2)); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("beyond the depth limit: %v", err)
	}
	var many strings.Builder
	many.WriteString("server: mail\nbad: 1\n")
	for range 3 * MaxProblems {
		many.WriteString("x" + strings.Repeat("y", many.Len()%97) + ": 1\n")
	}
	var problems floodmark.Problems
	if _, err := Parse("f", []byte(many.String())); !errors.As(err, &problems) || len(problems) > MaxProblems {
		t.Errorf("%d problems", len(problems))
	}
}

func TestWarnings(t *testing.T) {
	f := parse(t, `
server: far
remote: true
tools:
  - tool: [look]
    effect: observe
  - tool: [peek]
    effect: fetch
    returns: {trust: shared}
  - tool: [ask]
    effect: fetch
    returns: {secrecy: public}
`)
	got := f.Warnings().Error()
	for _, want := range []string{"counts as fetch", "untrusted and secret", "names no secrecy", "names no trust"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in:\n%s", want, got)
		}
	}
}

// An error of YAML itself is reported alone: others may follow from it.
func TestRepeatedKeysAreSaidAlone(t *testing.T) {
	_, err := Parse("f", []byte("agent: pi\nagent: pi\nother: 1\n"))
	if want := "f:2:1: error: the key \"agent\" is there twice\n    keep one of them"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	for text, want := range map[string]string{
		"other: &a 1\n":    "f:1:8: error: anchors and aliases are not allowed\n    write the value out",
		"other: !!str 1\n": "f:1:8: error: tags like !!str are not allowed\n    leave the tag out",
	} {
		if _, err := Parse("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	_, err = Parse("f", []byte("agent: '*'\ntools: [{tool: t, effect: run, returns: {trust: local, secrecy: public}}]"))
	if err == nil || !strings.Contains(err.Error(), "has a «*»") {
		t.Errorf("got %v", err)
	}
}

func TestCautionMeansUntrusted(t *testing.T) {
	f := parse(t, `
agent: openclaw
tools:
  - {tool: news, effect: fetch, returns: {trust: shared, secrecy: public}, caution: true}
  - {tool: wire, effect: fetch, returns: {trust: shared, secrecy: public}, caution: false}
`)
	c := New([]*File{f}, nil)
	for tool, want := range map[string]floodmark.Trust{"news": floodmark.Untrusted, "wire": floodmark.Shared} {
		if u := c.Classify(builtin("openclaw", tool), nil, nil, Places{}); u.Returns.Trust != want {
			t.Errorf("%s: %v", tool, u.Returns)
		}
	}
}

// A list of tools inside another file keeps that file's places.
func TestParseTools(t *testing.T) {
	read := func(text string) (*File, error) {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		return ParseTools("floodmark.yaml", n.Content[0].Content[1])
	}
	f, err := read("tools:\n  - {server: x, tool: y, effect: observe, returns: {trust: local, secrecy: public}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := New([]*File{f}, nil).Lookup(offered("x", "y")); !ok {
		t.Error("not found")
	}
	_, err = read("tools:\n  - {tool: y, effect: observe, returns: {trust: local, secrecy: public}}\n")
	if err == nil || !strings.HasPrefix(err.Error(), "floodmark.yaml:2:5: error:") {
		t.Errorf("got %v", err)
	}
}

// A tool is described once, and an agent and a server may share a name.
func TestToolsAreDescribedOnce(t *testing.T) {
	const says = "effect: run, returns: {trust: local, secrecy: public}"
	for text, want := range map[string]string{
		"{agent: x, tool: y, " + says + "}, {server: x, tool: y, " + says + "}":  "",
		"{agent: x, tool: y, " + says + "}, {agent: z, tool: y, " + says + "}":   "",
		"{agent: x, tool: y, " + says + "}, {agent: x, tool: y, " + says + "}":   `tool "y" of "x" is described twice`,
		"{server: x, tool: y, " + says + "}, {server: x, tool: y, " + says + "}": `tool "y" of "x" is described twice`,
		"{agent: x, " + says + "}": "a tool needs a name",
	} {
		var list yaml.Node
		if err := yaml.Unmarshal([]byte("["+text+"]"), &list); err != nil {
			t.Fatal(err)
		}
		_, err := ParseTools("f", list.Content[0])
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// An argument's needed trust is as written, and otherwise Owner.
func TestWhatAnArgumentNeeds(t *testing.T) {
	f := parse(t, `
agent: pi
tools:
  - {tool: t, effect: run, returns: {trust: path, secrecy: public}, args: {a: {role: critical, is: id, needs: local}, b: {role: critical, is: id}}}
`)
	p := f.Profiles()[0]
	for name, want := range map[string]floodmark.Trust{"a": floodmark.Local, "b": floodmark.Owner} {
		if a, ok := p.Arg(name); !ok || a.Needs != want {
			t.Errorf("%s needs %v", name, a.Needs)
		}
	}
	if u := New([]*File{f}, nil).Classify(builtin("pi", "t"), nil, nil, here()); u.Location != InProject || u.Place != here().Project {
		t.Errorf("trust by path, without one: %v %s", u.Location, u.Place)
	}
}

func TestNearestWord(t *testing.T) {
	known := []string{"effect", "returns", "args"}
	for word, want := range map[string]string{
		"efect": `did you mean "effect"?`, "RETURNS": `did you mean "returns"?`, "zzz": "the key can be: effect, returns, args",
	} {
		if got := near("key", word, known); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}
