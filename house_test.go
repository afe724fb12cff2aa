package floodmark_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests below compare the tree with ARCHITECTURE.md. The rules for one source file are in
// house_rules_test.go, and the tests of these rules in house_bite_test.go.

const (
	module   = "github.com/floodmark/floodmark"
	lastPure = 2 // the floors up to here are pure
	doors    = 4
)

// pureImports lists what floors 1 and 2 may import besides each other. A package belongs here if it
// only computes: same input, same output, no side effects. context and time are here for their
// types, sync for values computed once on first use; house_rules_test.go refuses their impure parts
// by name.
func pureImports() []string {
	return []string{
		"archive/zip", "bytes", "cmp", "container/heap", "context", "crypto/hmac", "crypto/sha256", "crypto/subtle", "embed",
		"encoding", "encoding/base32", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
		"errors", "fmt", "go/scanner", "go/token", "hash", "hash/fnv", "html", "io", "iter", "maps", "math", "math/bits", "mime",
		"net/netip", "net/url", "path", "regexp", "regexp/syntax", "slices", "sort", "strconv", "strings",
		"sync", "time", "unicode", "unicode/utf16", "unicode/utf8",
		"go.yaml.in/yaml/v3", "golang.org/x/net/publicsuffix", "mvdan.cc/sh/v3/syntax",
	}
}

// pureModules lists modules whose packages floors 1 and 2 may all import.
func pureModules() []string { return []string{"cel.dev/cel-go", "google.golang.org/protobuf"} }

func vagueNames() []string {
	return []string{
		"util", "utils", "common", "helper", "helpers", "type", "types", "base", "core", "misc", "lib",
		"shared", "model", "models", "manager", "impl", "internal", "tools", "stuff", "data", "api",
	}
}

func floorWords() []string { return []string{"", "words", "rules", "monitor", "doors", "program"} }

// A pkg is what the go command says about one package of ours.
type pkg struct {
	ImportPath, Dir, Name   string
	GoFiles, IgnoredGoFiles []string
	Imports                 []string
}

func short(importPath string) string {
	if importPath == module {
		return "floodmark"
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func TestHouse(t *testing.T) {
	pkgs := packages(t)
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	sizes, clocks := measureDebt(t, pkgs)
	listed := readDebt(t)
	if *lowerDebt {
		writeDebt(t, sizes, listed)
		return
	}
	rows, complaints := readTable(string(doc))
	check := func(name string, complaints []string) {
		t.Run(name, func(t *testing.T) {
			for _, c := range complaints {
				t.Error(c)
			}
		})
	}
	check("the table reads well", complaints)
	check("every package is in the table", compareTable(pkgs, rows))
	check("imports go downstairs", compareImports(pkgs, rows))
	check("packages keep the rules", eachPackage(t, pkgs, rows))
	check("files are short", eachFileInTree(t))
	check(".ci/system names the tests that start programs", compareSystem(t, pkgs))
	complaints = compareDebt(sizes, listed)
	for d, where := range clocks {
		if len(where) > listed[d] {
			complaints = append(complaints, where...)
		}
	}
	check("debts only shrink", complaints)
}

// packages asks the go command, which knows about build tags and modules. It ignores compile
// errors, because another check reports them.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Name,GoFiles,IgnoredGoFiles,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pkgs := map[string]pkg{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs[short(p.ImportPath)] = p
	}
}

// readTable returns the floor of each package in the table.
func readTable(doc string) (floors map[string]int, complaints []string) {
	floors = map[string]int{}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([1-5]) ([a-z]+) \\| (.*) \\|$")
	joins := regexp.MustCompile(`(?i)\band\b|&|;`)
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		name, floor, word, text := m[1], int(m[2][0]-'0'), m[3], m[4]
		if _, twice := floors[name]; twice {
			complaints = append(complaints, name+": two rows")
		}
		floors[name] = floor
		if word != floorWords()[floor] {
			complaints = append(complaints, fmt.Sprintf("%s: floor %d is called %q, not %q", name, floor, floorWords()[floor], word))
		}
		if joins.MatchString(text) {
			complaints = append(complaints, name+": a package that holds one idea needs no «and»: "+text)
		}
		if strings.Index(text, ".") != len(text)-1 {
			complaints = append(complaints, name+": want exactly one sentence: "+text)
		}
	}
	if len(floors) == 0 {
		complaints = append(complaints, "ARCHITECTURE.md has no package table")
	}
	return floors, complaints
}

func compareTable(pkgs map[string]pkg, floors map[string]int) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(pkgs)) {
		if floors[name] == 0 {
			complaints = append(complaints, "package "+name+" has no row in ARCHITECTURE.md")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		if _, ok := pkgs[name]; !ok {
			complaints = append(complaints, "ARCHITECTURE.md has a row for "+name+", which does not exist")
		}
	}
	return complaints
}

func compareImports(pkgs map[string]pkg, floors map[string]int) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(pkgs)) {
		from := floors[name]
		for _, imp := range pkgs[name].Imports {
			to := floors[short(imp)]
			switch ours := imp == module || strings.HasPrefix(imp, module+"/"); {
			case ours && to == 0:
				complaints = append(complaints, fmt.Sprintf("%s imports %s, which is in no row of ARCHITECTURE.md and of which «./...» knows nothing", name, short(imp)))
			case ours && to > from:
				complaints = append(complaints, fmt.Sprintf("%s (floor %d) imports %s, which is upstairs (floor %d)", name, from, short(imp), to))
			case ours && to == doors && from == doors:
				complaints = append(complaints, fmt.Sprintf("door %s imports door %s", name, short(imp)))
			case !ours && from <= lastPure && !pureImport(imp):
				complaints = append(complaints, fmt.Sprintf("pure package %s imports %s, which is not on the list of pure packages", name, imp))
			}
		}
	}
	return complaints
}

func pureImport(imp string) bool {
	return slices.Contains(pureImports(), imp) ||
		slices.ContainsFunc(pureModules(), func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") })
}

func eachPackage(t *testing.T, pkgs map[string]pkg, floors map[string]int) (complaints []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(pkgs)) {
		p := pkgs[name]
		if slices.Contains(vagueNames(), p.Name) {
			complaints = append(complaints, "package "+name+": the name says nothing")
		}
		comments := 0
		for _, file := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			f := parse(t, filepath.Join(p.Dir, file))
			if f.hasPackageComment() {
				comments++
			}
			complaints = append(complaints, f.checkDeclarations(floors[name] <= lastPure)...)
			if floors[name] <= lastPure {
				complaints = append(complaints, f.checkPurity()...)
			}
		}
		if comments != 1 {
			complaints = append(complaints, fmt.Sprintf("package %s: %d files have a package comment, want 1", name, comments))
		}
	}
	return complaints
}

// eachFileInTree checks every Go file, also of tests and of modules beside this one: the limit on
// length holds for all.
func eachFileInTree(t *testing.T) (complaints []string) {
	t.Helper()
	eachFile(t, func(path string) {
		if strings.HasSuffix(path, ".go") {
			s := parse(t, path)
			complaints = append(complaints, append(s.checkSizes(), s.checkHeader()...)...)
		}
	})
	return complaints
}

// eachFile goes through the files of this module and of those beside it.
func eachFile(t *testing.T, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipFolder(path, d):
			return fs.SkipDir
		case !d.IsDir():
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
