package truth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A disabling makes the scanner overlook one construct: the body of a function,
// or of one case in it, is replaced.
type disabling struct {
	construct string
	function  string
	label     string // of the case, as it is written; empty for the whole function
	body      string
}

// constructs are the names of all rules.
func constructs() []string {
	var all []string
	known := map[string]bool{}
	for _, rules := range [][]rule{lineRules(), startRules(), codeRules(), wordRules(), redirectRules(), folderRules()} {
		for _, r := range rules {
			if !known[r.construct] {
				all = append(all, r.construct)
			}
			known[r.construct] = true
		}
	}
	return all
}

// apply returns the file that a disabling changes, and what is in it then.
func (d disabling) apply() (name string, text []byte, err error) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		return "", nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		if from, to, ok := d.find(file, text, func(p token.Pos) int { return set.Position(p).Offset }); ok {
			return name, slicesJoin(text[:from], []byte("\n"+d.body+"\n"), text[to:]), nil
		}
	}
	return "", nil, fmt.Errorf("disable %s: the scanner has no %s with case %q any more; change the row of the table", d.construct, d.function, d.label)
}

func slicesJoin(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// find says which bytes of a file a disabling replaces.
func (d disabling) find(file *ast.File, text []byte, at func(token.Pos) int) (from, to int, ok bool) {
	for _, decl := range file.Decls {
		f, isFunc := decl.(*ast.FuncDecl)
		if !isFunc || f.Name.Name != d.function || f.Body == nil {
			continue
		}
		if d.label == "" {
			return at(f.Body.Lbrace) + 1, at(f.Body.Rbrace), true
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			c, isCase := n.(*ast.CaseClause)
			if !isCase || ok || len(c.List) == 0 {
				return !ok
			}
			if label := string(text[at(c.List[0].Pos()):at(c.List[len(c.List)-1].End())]); strings.Contains(label, d.label) {
				from, to, ok = at(c.Colon)+1, at(c.End()), true
			}
			return !ok
		})
	}
	return from, to, ok
}

// judgeVariable makes this program judge the outcomes in a file: see TestMain.
const judgeVariable = "FLOODMARK_SHELL_JUDGE"

// judgeFile prints how many outcomes of a file the scanner under-estimates.
func judgeFile(name string) int {
	data, err := os.ReadFile(name)
	var kept []madeOutcome
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	var j *judge
	if err == nil {
		j, err = newJudge()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n := 0
	for i := range kept {
		if len(j.below(&kept[i].outcome)) > 0 {
			n++
		}
	}
	fmt.Print(n)
	return 0
}

// shown builds the scanner with a construct disabled and says how many of the
// outcomes in a file it under-estimates.
func (d disabling) shown(t *testing.T, outcomes string) (int, error) {
	t.Helper()
	name, text, err := d.apply()
	if err != nil {
		return 0, err
	}
	dir := t.TempDir()
	full, err := filepath.Abs(name)
	if err != nil {
		return 0, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{full: filepath.Join(dir, "disabled.go")}})
	if err != nil {
		return 0, err
	}
	program := filepath.Join(dir, "judge")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "disabled.go"), text, 0o600), os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)); err != nil {
		return 0, err
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build without %s: %w\n%s", d.construct, err, out)
	}
	judge := exec.CommandContext(t.Context(), program)
	judge.Env = append(os.Environ(), judgeVariable+"="+outcomes)
	out, err := judge.Output()
	if err != nil {
		return 0, fmt.Errorf("judge without %s: %w", d.construct, err)
	}
	n := 0
	_, err = fmt.Sscan(string(out), &n)
	return n, err
}

// disabled takes one construct after the other from the scanner. Each time the
// lines that were watched must show it. A run in small tries a few.
func disabled(t *testing.T, f *figures, kept []madeOutcome) {
	t.Helper()
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := filepath.Join(t.TempDir(), "outcomes.json")
	if err := os.WriteFile(outcomes, data, 0o600); err != nil {
		t.Fatal(err)
	}
	chosen := disablings()
	random := rand.New(rand.NewPCG(*seed, 5))
	random.Shuffle(len(chosen), func(i, k int) { chosen[i], chosen[k] = chosen[k], chosen[i] })
	for _, d := range chosen[:min(len(chosen), *disable)] {
		n, err := d.shown(t, outcomes)
		if err != nil {
			t.Error(err)
			continue
		}
		f.Disabled[d.construct] += n
		if n == 0 {
			t.Errorf("without %s (%s, case %q) no watched line shows an under-estimate", d.construct, d.function, d.label)
		}
	}
}

// Every row of the table still fits the scanner, and every construct of the
// generator has one.
func TestDisablingsFit(t *testing.T) {
	has := map[string]bool{}
	for _, d := range disablings() {
		has[d.construct] = true
		if _, _, err := d.apply(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range constructs() {
		if !has[c] && c != "plain" {
			t.Errorf("nothing says how the scanner would overlook %s", c)
		}
	}
}
