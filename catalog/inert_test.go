package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/shellscan"
)

// The files into which a line writes only what computes.
func TestInertLines(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string][]string{
		"cat > /p/a.py <<'EOF'\ndef f(x):\n    return x + 1\nEOF":                                    {"/p/a.py"},
		"cat > /p/a.py <<'EOF'\nimport os\nos.system('id')\nEOF":                                     nil,
		"cat > /p/a.py <<'EOF'\nx = 1\nEOF\ncat >> /p/a.py <<'EOF'\ny = 2\nEOF":                      {"/p/a.py"},
		"cat > /p/a.py <<'EOF'\nx = 1\nEOF\ncat >> /p/a.py <<'EOF'\nimport os\nos.system('id')\nEOF": nil,
		"cat > /p/a.py <<'EOF'\nimport os\nos.system('id')\nEOF\ncat >> /p/a.py <<'EOF'\nx = 1\nEOF": nil,
		"cat > /p/a.py <<'EOF'\nx = 1\nEOF\ncp /tmp/x /p/a.py":                                       nil,
		"cat > /p/a.py <<'EOF'\nx = 1\nEOF\ncat > /p/b.py <<'EOF'\ny = 1\nEOF":                       {"/p/a.py", "/p/b.py"},
		"cat > /p/a.md <<'EOF'\nrun this: rm -rf /\nEOF":                                             {"/p/a.md"},
		"cp /tmp/x /p/a.md":                {"/p/a.md"},
		"cp /tmp/x /p/a.py":                nil,
		"cat > /p/run.sh <<'EOF'\nid\nEOF": nil,
		"ls":                               nil,
	} {
		if u := shell(t, c, line); !slices.Equal(u.Inert, want) {
			t.Errorf("%q: %q, want %q", line, u.Inert, want)
		}
	}
}

// Each condition of what is inert.
func TestEachConditionOfInertPuts(t *testing.T) {
	write := func(path string) shellscan.Effect { return shellscan.Effect{Kind: shellscan.Write, Path: path} }
	pattern, tree, read := write("/p/a.py"), write("/p/a.py"), write("/p/a.py")
	pattern.Pattern, tree.Tree, read.Kind = true, true, shellscan.Read
	prosePattern, proseTree, proseRead := write("/p/a.md"), write("/p/a.md"), write("/p/a.md")
	prosePattern.Pattern, proseTree.Tree, proseRead.Kind = true, true, shellscan.Read
	good, bad := shellscan.Put{Path: "/p/a.py", Text: "x = 1\n"}, shellscan.Put{Path: "/p/a.py", Text: "import os\nos.system('id')\n"}
	for _, c := range []struct {
		name    string
		puts    []shellscan.Put
		effects []shellscan.Effect
		want    int
	}{
		{"one", []shellscan.Put{good}, []shellscan.Effect{write("/p/a.py")}, 1},
		{"two", []shellscan.Put{good, good}, []shellscan.Effect{write("/p/a.py"), write("/p/a.py")}, 1},
		{"written more often than known", []shellscan.Put{good}, []shellscan.Effect{write("/p/a.py"), write("/p/a.py")}, 0},
		{"known more often than written", []shellscan.Put{good, good}, []shellscan.Effect{write("/p/a.py")}, 0},
		{"read as well", []shellscan.Put{good}, []shellscan.Effect{read, write("/p/a.py")}, 1},
		{"another written as well", []shellscan.Put{good}, []shellscan.Effect{write("/p/a.py"), write("/p/b.py")}, 1},
		{"only read", []shellscan.Put{good}, []shellscan.Effect{read}, 0},
		{"a pattern", []shellscan.Put{good}, []shellscan.Effect{pattern}, 0},
		{"a tree", []shellscan.Put{good}, []shellscan.Effect{tree}, 0},
		{"acts", []shellscan.Put{bad}, []shellscan.Effect{write("/p/a.py")}, 0},
		{"acts, then computes", []shellscan.Put{bad, good}, []shellscan.Effect{write("/p/a.py"), write("/p/a.py")}, 0},
		{"computes, then acts", []shellscan.Put{good, bad}, []shellscan.Effect{write("/p/a.py"), write("/p/a.py")}, 0},
		{"acts, then computes twice", []shellscan.Put{bad, good, good}, []shellscan.Effect{write("/p/a.py")}, 0},
		{"nothing known", nil, []shellscan.Effect{write("/p/a.py")}, 0},
		{"prose", nil, []shellscan.Effect{write("/p/a.md"), write("/p/a.md")}, 1},
		{"prose by a pattern", nil, []shellscan.Effect{prosePattern}, 0},
		{"prose in a tree", nil, []shellscan.Effect{proseTree}, 0},
		{"prose that is read", nil, []shellscan.Effect{proseRead}, 0},
	} {
		if got := inertPuts(&shellscan.Report{Puts: c.puts, Effects: c.effects}); len(got) != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// An edit may not make another word of what stands beside it.
func TestInertEdit(t *testing.T) {
	for _, c := range []struct {
		path, old, text string
		want            bool
	}{
		{"/p/a.py", "x = 1", "x = 2", false}, // 1 became 2: a word at the edge
		{"/p/a.py", "x = 1\n", "x = 2\n", true},
		{"/p/a.py", "x = 1\n", "y = 1\n", false},
		{"/p/a.py", "\nx = 1\n", "\ny = 2\n", true},
		{"/p/a.py", "x + y", "x * y", false},
		{"/p/a.py", "x + y + z", "x + 2 + z", true},
		{"/p/a.py", "x + y", "x * z", false},
		{"/p/a.py", "z + y", "x * y", false},
		{"/p/a.py", "x\n", "x\nimport os\nos.system('id')\n", false},
		{"/p/a.py", "word", "word", false},
		{"/p/a.py", "word", "other", false},
		{"/p/run.sh", "\nid\n", "\nid\n", false},
	} {
		if got := InertEdit(c.path, c.old, c.text); got != c.want {
			t.Errorf("%s %q -> %q: %v", c.path, c.old, c.text, got)
		}
	}
}

func TestCharactersOfWords(t *testing.T) {
	for _, c := range "_$09AZaz\u0080é" {
		if notInWord(c) {
			t.Errorf("%q is not in a word", c)
		}
	}
	for _, c := range "/:@[`{ \n\u007f.-" {
		if !notInWord(c) {
			t.Errorf("%q is in a word", c)
		}
	}
}
