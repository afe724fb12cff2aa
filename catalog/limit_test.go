package catalog

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/sqlread"
	"github.com/floodmark/floodmark/internal/text/spelling"
)

// many writes n elements, numbered at «%», between two texts.
func many(n int, before, one, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := range n {
		b.WriteString(strings.ReplaceAll(one, "%", fmt.Sprint(i)))
	}
	return b.String() + after
}

const tool = "agent: pi\ntools:\n  - tool: t\n    effect: run\n    returns: {trust: local, secrecy: public}\n"

// The limits people rely on, as numbers: changing one would be noticed.
func TestLimitsAsNumbers(t *testing.T) {
	for name, l := range map[string][2]int{
		"bytes of a file": {MaxFileBytes, 1048576}, "depth of a file": {MaxDepth, 12}, "problems": {MaxProblems, 50},
		"tools": {MaxTools, 4096}, "arguments": {MaxArgs, 256}, "cases": {MaxCases, 256}, "paths": {MaxGlobs, 4096},
		"bytes of a path": {MaxPathBytes, 4096}, "parts of a pattern": {maxGlobSegments, 32}, "mounts": {maxMounts, 4}, "joined paths": {maxJoined, 16},
		"bytes of a command": {MaxCommandBytes, 4096}, "words of a command": {MaxCommandWords, 128}, "bytes of a line": {MaxShellBytes, 262144},
		"bytes of mentioned paths": {maxMentioned, 2097152}, "targets": {maxTargets, 512}, "bytes of a statement": {sqlread.MaxBytes, 16384},
	} {
		if l[0] != l[1] {
			t.Errorf("%s: %d, want %d", name, l[0], l[1])
		}
	}
}

// Beyond a limit nothing of the list is read: its mistakes are not reported.
func TestLimitsOfOneFile(t *testing.T) {
	good := " {tool: t%, effect: run, returns: {trust: local, secrecy: public}},"
	for _, tc := range []struct {
		name              string
		limit             int
		before, good, bad string
		after, want       string
	}{
		{"tools", MaxTools, "agent: pi\ntools: [", good, " x,", "]\n", "f:2:8: error: there are %d tools, at most 4096 are read\n    split the file"},
		{"args", MaxArgs, tool + "    args: {", " a%: {role: critical, is: flag},", " a%: x,", "}\n", "f:6:11: error: there are %d arguments, at most 256 are read"},
		{
			"cases", MaxCases, tool + "    args: {a: {role: critical, is: flag}}\n    when: [", " {arg: a, in: [x], effect: run},", " x,", "]\n",
			"f:7:11: error: there are %d cases, at most 256 are read",
		},
		{"paths", MaxGlobs, "paths:\n  secret: [", " /a%,", " /b%,", "]\n", "f:2:3: error: there are %d paths, at most 4096 are read"},
	} {
		if _, err := Parse("f", []byte(many(tc.limit, tc.before, tc.good, tc.after))); err != nil {
			t.Errorf("%s at the limit: %.200v", tc.name, err)
		}
		_, err := Parse("f", []byte(many(tc.limit+1, tc.before, tc.bad, tc.after)))
		if want := fmt.Sprintf(tc.want, tc.limit+1); err == nil || err.Error() != want {
			t.Errorf("%s beyond the limit: %.300v, want %s", tc.name, err, want)
		}
	}
}

func TestTwoConditionsInOneCase(t *testing.T) {
	_, err := Parse("f", []byte(tool+"    args: {a: {role: critical, is: flag}}\n    when: [{arg: a, in: [x], given: true, effect: send}]\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "f:7:12: error: a case needs exactly one condition, not 2\n") {
		t.Error(err)
	}
}

func TestNumberOfProblems(t *testing.T) {
	for _, n := range []int{MaxProblems - 1, MaxProblems, MaxProblems + 1} {
		var problems floodmark.Problems
		_, err := Parse("f", []byte(many(n, "", "x%: 1\n", "")))
		if !errors.As(err, &problems) || len(problems) != min(n, MaxProblems) {
			t.Errorf("%d mistakes: %d problems", n, len(problems))
		}
	}
}

func TestDepthOfAFile(t *testing.T) {
	for _, n := range []int{MaxDepth - 1, MaxDepth} {
		_, err := Parse("f", []byte("a: "+strings.Repeat("[", n-1)+"x"+strings.Repeat("]", n-1)))
		deep := strings.HasSuffix(fmt.Sprint(err), "nested more than 12 deep")
		other := strings.Contains(fmt.Sprint(err), "no key")
		if deep != (n == MaxDepth) || other == deep {
			t.Errorf("%d: %v", n, err)
		}
	}
	// A list of tools is in a file of its own, and not a level deeper.
	for _, n := range []int{MaxDepth, MaxDepth + 1} {
		var list yaml.Node
		if err := yaml.Unmarshal([]byte(strings.Repeat("[", n)+"x"+strings.Repeat("]", n)), &list); err != nil {
			t.Fatal(err)
		}
		_, err := ParseTools("f", list.Content[0])
		if deep := strings.HasSuffix(fmt.Sprint(err), "nested more than 12 deep"); deep != (n > MaxDepth) {
			t.Errorf("tools %d deep: %v", n, err)
		}
	}
}

func TestLengthOfANameAndOfWhatIsRepeated(t *testing.T) {
	file := func(name string) []byte {
		return []byte("server: " + name + "\ntools: [{tool: t, effect: run, returns: {trust: local, secrecy: public}}]")
	}
	if _, err := Parse("f", file(strings.Repeat("a", hook.MaxNameBytes))); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := Parse("f", file(strings.Repeat("a", hook.MaxNameBytes+1)))
	if want := `f:1:9: error: server "` + strings.Repeat("a", 40) + `…" is no name: it is too long or has spaces`; err == nil || err.Error() != want {
		t.Errorf("beyond the limit: %v", err)
	}
	for in, want := range map[string]string{
		"":                            "",
		strings.Repeat("a", 40):       strings.Repeat("a", 40),
		strings.Repeat("a", 41):       strings.Repeat("a", 40) + "…",
		strings.Repeat("a", 39) + "é": strings.Repeat("a", 39) + "…", // not half a letter
	} {
		if got := shorten(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestEdits(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "ab", 2},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"ac", "abc", 1},
		{"ab", "ba", 2},
		{"kitten", "sitting", 3},
		{long, long, 0},
		{long + "a", "a", 64},
		{"a", long + "a", 64},
		{long, "", 64},
		{long + "aa", "", 64},
		{"", long + "aa", 64},
		{long + "a", long + "a", 64},
	} {
		if got := spelling.Edits(tc.a, tc.b); got != tc.want {
			t.Errorf("%.9q %.9q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
	// Half of the letters may be wrong, not more. Of words equally near, the first is taken.
	for word, want := range map[string]string{
		"abxx": `did you mean "abcd"?`, "axxx": "the key can be: abcd, abce", "abc": `did you mean "abcd"?`, "ABCE": `did you mean "abce"?`,
	} {
		if got := near("key", word, []string{"abcd", "abce"}); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestSyntaxErrorsHaveAPlace(t *testing.T) {
	for text, want := range map[string]string{
		"yaml: line 7: it is odd": "f:7:1: error: it is odd",
		"yaml: line x: it is odd": "f:1:1: error: line x: it is odd",
		"yaml: line 7 is odd":     "f:1:1: error: line 7 is odd",
		"yaml: it is odd":         "f:1:1: error: it is odd",
	} {
		r := &reader{file: "f"}
		r.syntax(errors.New(text))
		if got, _, _ := strings.Cut(r.problems.Error(), "\n"); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A problem always has a position, even where YAML gives none.
func TestProblemsWithoutANode(t *testing.T) {
	r := &reader{file: "f"}
	r.fail(&yaml.Node{}, "code", "", "text")
	r.warn(&yaml.Node{Line: 3, Column: 4}, "code", "hint", "text %d", 7)
	if got := r.problems.Error(); got != "f:1:1: error: text\nf:3:4: warning: text 7\n    hint" {
		t.Error(got)
	}
}

//go:embed testdata
var testFolder embed.FS

func TestReadFolder(t *testing.T) {
	files, err := readFolder(data, "data")
	if err != nil || len(files) < 20 || files[0].Name() != "claude-code.yaml" {
		t.Errorf("%d files, %v", len(files), err)
	}
	for name, folder := range map[string]string{"no such folder": "nothing", "a folder in it": "testdata", "a wrong file": "testdata/wrong"} {
		if files, err := readFolder(testFolder, folder); err == nil || files != nil {
			t.Errorf("%s: %v", name, files)
		}
	}
}

func TestHashTellsFilesApart(t *testing.T) {
	a, b := parse(t, minimal), parse(t, minimal+"# more\n")
	list := func(text string) *File {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		f, err := ParseTools("f", n.Content[0])
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := "[{server: x, tool: y, effect: run, returns: {trust: local, secrecy: public}}]"
	hashes := map[floodmark.Digest]string{}
	for name, c := range map[string]*Catalog{
		"nothing": New(nil, nil), "a": New([]*File{a}, nil), "b": New([]*File{b}, nil), "ab": New([]*File{a, b}, nil), "ba": New([]*File{b, a}, nil),
		"a over b": New([]*File{a}, New([]*File{b}, nil)), "over a": New(nil, New([]*File{a}, nil)),
		"list": New([]*File{list(one)}, nil), "other list": New([]*File{list(strings.Replace(one, "run", "send", 1))}, nil),
	} {
		if other, taken := hashes[c.Hash()]; taken {
			t.Errorf("%s and %s have one hash", name, other)
		}
		hashes[c.Hash()] = name
	}
}
