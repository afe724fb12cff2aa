package truth

import (
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
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A disabling makes the scanner overlook one construct. Its body is put at the beginning of a
// function, whose own code follows unless the body returns. If the disabling has a label, the body
// replaces the code of one case in the function.
type disabling struct {
	construct string
	function  string
	label     string // part of the case's label as written; empty for the whole function
	body      string
}

// constructs returns the names of the constructs of all rules.
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

// An edit puts text into a file.
type edit struct {
	at   int
	text string
}

// switchName is the variable, in the scanner that is built for [disabled], with the number of the
// disabling that is switched on.
const switchName = "disabledConstruct"

// edits returns the texts that a disabling puts into the scanner, and the file they belong into.
func (d disabling) edits(number int, files map[string][]byte) (name string, all []edit, err error) {
	for name, text := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		from, to, ok := d.find(file, text, func(p token.Pos) int { return set.Position(p).Offset })
		if !ok {
			continue
		}
		head := fmt.Sprintf("\nif %s == %d {\n%s\n}", switchName, number, d.body)
		if d.label == "" {
			return name, []edit{{from, head + "\n"}}, nil
		}
		return name, []edit{{from, head + " else {\n"}, {to, "\n}\n"}}, nil
	}
	return "", nil, fmt.Errorf("disable %s: the scanner has no %s with case %q any more; change the row of the table", d.construct, d.function, d.label)
}

// find returns the beginning and the end of the code in a file to which a disabling applies.
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

// sources returns the scanner's own files without its tests.
func sources() (map[string][]byte, error) {
	names, err := filepath.Glob("../../internal/shell/shellscan/*.go")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// switchable returns the files of the scanner that are changed so that each disabling can be
// switched on.
func switchable(rows []disabling) (map[string][]byte, error) {
	files, err := sources()
	if err != nil {
		return nil, err
	}
	edits := map[string][]edit{}
	for i, d := range rows {
		name, more, err := d.edits(i+1, files)
		if err != nil {
			return nil, err
		}
		edits[name] = append(edits[name], more...)
	}
	changed := map[string][]byte{
		"../../internal/shell/shellscan/disabled.go": []byte("package shellscan\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar " + switchName +
			" = func() int { n, _ := strconv.Atoi(os.Getenv(\"" + switchVariable + "\")); return n }()\n"),
	}
	for name, list := range edits {
		// From the end of the file, so that the offsets of the other edits stay right. Of two edits
		// at the same offset the text of the later row comes first.
		slices.SortStableFunc(list, func(a, b edit) int { return b.at - a.at })
		text := string(files[name])
		for _, e := range list {
			text = text[:e.at] + e.text + text[e.at:]
		}
		changed[name] = []byte(text)
	}
	return changed, nil
}

// judgeVariable is the environment variable that makes this program run [judgeFile] on a file.
const judgeVariable = "FLOODMARK_SHELL_JUDGE"

// constructVariable is the environment variable with the construct whose outcomes are judged.
const constructVariable = "FLOODMARK_SHELL_CONSTRUCT"

// judgeFile reads outcomes from a file and prints how many of those with a construct the scanner
// under-estimates.
func judgeFile(name, construct string) int {
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
		if slices.Contains(kept[i].Constructs, construct) && len(j.below(&kept[i].outcome)) > 0 {
			n++
		}
	}
	fmt.Print(n)
	return 0
}

// switchVariable is the environment variable that tells the program of [buildSwitchable] which
// disabling is switched on.
const switchVariable = "FLOODMARK_SHELL_DISABLED"

// buildSwitchable builds this test program with a scanner in which one disabling can be switched
// on.
func buildSwitchable(t *testing.T, rows []disabling) string {
	t.Helper()
	dir := t.TempDir()
	files, err := switchable(rows)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, text := range files {
		full, err := filepath.Abs(name)
		at := filepath.Join(dir, filepath.Base(name))
		if err := errors.Join(err, os.WriteFile(at, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		replace[full] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "judge")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", list, "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a scanner that can be told to overlook things: %v\n%s", err, out)
	}
	return program
}

// disabled switches on some disablings, one after the other. Each time more of the watched lines
// with the construct must be under-estimated than without a disabling.
func disabled(t *testing.T, j *judge, f *figures, kept []madeOutcome) {
	t.Helper()
	whole := map[string]int{} // by construct: under-estimates without a disabling
	for i := range kept {
		if len(j.below(&kept[i].outcome)) > 0 {
			for _, c := range kept[i].Constructs {
				whole[c]++
			}
		}
	}
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := filepath.Join(t.TempDir(), "outcomes.json")
	if err := os.WriteFile(outcomes, data, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := disablings()
	program := buildSwitchable(t, rows)
	random := rand.New(rand.NewPCG(*seed, 5))
	for _, i := range random.Perm(len(rows))[:min(len(rows), *rowsTried)] {
		d := rows[i]
		n := judgeWithout(t, program, outcomes, i+1, d.construct) - whole[d.construct]
		f.Disabled[d.construct] += n
		if n <= 0 {
			t.Errorf("without %s (%s, case %q) no watched line shows an under-estimate", d.construct, d.function, d.label)
		}
	}
}

// judgeWithout returns how many outcomes with a construct are under-estimated when the disabling of
// a row is switched on.
func judgeWithout(t *testing.T, program, outcomes string, row int, construct string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), judgeVariable+"="+outcomes, switchVariable+"="+strconv.Itoa(row), constructVariable+"="+construct)
	out, err := cmd.Output()
	n := 0
	if err == nil {
		_, err = fmt.Sscan(string(out), &n)
	}
	if err != nil {
		t.Fatalf("judge without row %d: %v", row, err)
	}
	return n
}

// Every disabling must still fit the scanner, and every construct of the generator must have a
// disabling.
func TestDisablingsFit(t *testing.T) {
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{"plain": true}
	for i, d := range disablings() {
		has[d.construct] = true
		if _, _, err := d.edits(i+1, files); err != nil {
			t.Error(err)
		}
	}
	for _, c := range constructs() {
		if !has[c] {
			t.Errorf("nothing says how the scanner would overlook %s", c)
		}
	}
}
