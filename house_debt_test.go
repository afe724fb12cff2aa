package floodmark_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tests below compare sizes that may only shrink with .ci/debt, which lists each size over its
// limit. tools/changed compares the list with an earlier one, so that the list cannot grow either.
// «make debt» writes smaller sizes into it.

const (
	debtFile     = ".ci/debt"
	maxFiles     = 25   // files of a package, without tests
	maxLines     = 4000 // lines of a package, without tests
	maxWords     = 20   // words of a list in code; a longer list is data
	maxCommands  = 20   // commands of floodmark
	commandPages = "docs/reference/cli"
)

var lowerDebt = flag.Bool("lower", false, "write sizes that shrank into "+debtFile)

// A debt is a measured size, such as the files of package kernel.
type debt struct{ kind, where string }

// advice says what to do about a size of each kind that is too large.
func advice(kind string) string {
	return map[string]string{
		"files":    "merge small files, or move an idea into a package of its own",
		"lines":    "take something out of it, or move an idea into a package of its own",
		"words":    "put the list into a data file",
		"clocks":   "wait for an event, use testing/synctest, or start the program in a …_system_test.go",
		"system":   "test it without a program, or give up another test of .ci/system",
		"unraced":  "make the test short enough for the race detector",
		"apart":    "let the gate run the module's tests",
		"commands": "give the command a flag or a subcommand instead",
	}[kind]
}

// limits says which size of each kind needs no entry.
func limits() map[string]int {
	return map[string]int{"files": maxFiles, "lines": maxLines, "words": 0, "clocks": 0, "system": 0, "unraced": 0, "apart": 0, "commands": maxCommands}
}

// compareDebt complains of sizes over their limit that the list does not allow.
func compareDebt(sizes, listed map[debt]int) (complaints []string) {
	for _, d := range sortedDebts(sizes) {
		switch is, allowed := sizes[d], max(listed[d], limits()[d.kind]); {
		case is > allowed:
			complaints = append(complaints, fmt.Sprintf("%s of %s: %d, at most %d (%s): %s", d.kind, d.where, is, allowed, debtFile, advice(d.kind)))
		case is < listed[d] && limits()[d.kind] == 0:
			complaints = append(complaints, fmt.Sprintf("%s of %s shrank from %d to %d: run «make debt»", d.kind, d.where, listed[d], is))
		}
	}
	for _, d := range sortedDebts(listed) {
		if is := sizes[d]; is <= limits()[d.kind] {
			complaints = append(complaints, fmt.Sprintf("%s of %s needs no entry any more (%d): run «make debt»", d.kind, d.where, is))
		}
	}
	return complaints
}

func sortedDebts(of map[debt]int) []debt {
	return slices.SortedFunc(maps.Keys(of), func(a, b debt) int {
		return strings.Compare(a.kind+" "+a.where, b.kind+" "+b.where)
	})
}

// measureDebt measures the whole tree, and lists the clocks in tests.
func measureDebt(t *testing.T, pkgs map[string]pkg) (sizes map[debt]int, clocks map[debt][]string) {
	t.Helper()
	sizes, clocks = map[debt]int{}, map[debt][]string{}
	for name, p := range pkgs {
		for _, file := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			s := parse(t, filepath.Join(p.Dir, file))
			if s.generated() {
				continue
			}
			sizes[debt{"files", name}]++
			sizes[debt{"lines", name}] += s.fset.File(s.file.FileStart).LineCount()
			sizes[debt{"words", name}] += s.listedWords()
		}
	}
	eachTestFile(t, func(path string, s source) {
		d := debt{"clocks", filepath.ToSlash(filepath.Dir(path))}
		clocks[d] = append(clocks[d], s.checkClocks()...)
		sizes[d] = len(clocks[d])
	})
	// Tests that start real programs, tests the race detector skips, modules the gate skips.
	sizes[debt{"system", "floodmark"}] = len(lines(t, ".ci/system"))
	sizes[debt{"unraced", "floodmark"}] = len(lines(t, ".ci/not-raced"))
	eachFile(t, func(path string) {
		if filepath.Base(path) == "soak-only" {
			sizes[debt{"apart", "floodmark"}]++
		}
	})
	pages, err := filepath.Glob(commandPages + "/floodmark-*.md")
	if err != nil {
		t.Fatal(err)
	}
	one := regexp.MustCompile(`/floodmark-[a-z]+\.md$`)
	for _, page := range pages {
		if one.MatchString(filepath.ToSlash(page)) {
			sizes[debt{"commands", "floodmark"}]++
		}
	}
	return sizes, clocks
}

// listedWords counts the words of lists that are too long for code.
func (s source) listedWords() (words int) {
	count := func(list []ast.Expr) {
		n := 0
		for _, e := range list {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Key
			}
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				n += len(strings.Fields(strings.Trim(lit.Value, "\"`")))
			}
		}
		if n > maxWords {
			words += n
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			count(n.Elts)
		case *ast.CaseClause:
			count(n.List)
		case *ast.CallExpr:
			if f := s.callee(n); f == "strings.Fields" || f == "strings.FieldsSeq" || f == "strings.Split" {
				count(n.Args)
			}
		}
		return true
	})
	return words
}

// readDebt reads lines «kind where number».
func readDebt(t *testing.T) map[debt]int {
	t.Helper()
	text, err := os.ReadFile(debtFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[debt]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if _, known := limits()[f[0]]; !known || len(f) != 3 {
			t.Fatalf("%s: want «kind where number»: %s", debtFile, line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatalf("%s: %v", debtFile, err)
		}
		listed[debt{f[0], f[1]}] = n
	}
	return listed
}

// writeDebt writes the sizes over their limit, and never more than is listed.
func writeDebt(t *testing.T, sizes, listed map[debt]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What is larger than it should be (house_debt_test.go) and may only shrink: kind, where,\n# size. «make debt» lowers the sizes. Nothing is ever added here.\n")
	for _, d := range sortedDebts(listed) {
		if is := min(sizes[d], listed[d]); is > limits()[d.kind] {
			fmt.Fprintf(&b, "%s %s %d\n", d.kind, d.where, is)
		}
	}
	if err := os.WriteFile(debtFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
