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

// A disabling makes the scanner overlook one construct: what stands in body
// happens first, in a function or in one case of it. In a case it happens
// instead; in a function the rest follows unless body returns.
type disabling struct {
	construct string
	function  string
	label     string // part of the case's label, as it is written; empty for the function
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

// An edit puts text into a file.
type edit struct {
	at   int
	text string
}

// switchName is a variable of the scanner built for [disabled]: which row of
// the table counts.
const switchName = "disabledConstruct"

// edits are what a row of the table puts into which file of the scanner.
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

// find says where in a file a disabling belongs.
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

// sources are the scanner's own files.
func sources() (map[string][]byte, error) {
	names, err := filepath.Glob("../../internal/shellscan/*.go")
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

// switchable returns the scanner's files with all rows of the table in them.
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
		"../../internal/shellscan/disabled.go": []byte("package shellscan\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar " + switchName +
			" = func() int { n, _ := strconv.Atoi(os.Getenv(\"" + switchVariable + "\")); return n }()\n"),
	}
	for name, list := range edits {
		// From the end, so that places stay; of two at one place the later row's
		// stands inside the earlier one's.
		slices.SortStableFunc(list, func(a, b edit) int { return b.at - a.at })
		text := string(files[name])
		for _, e := range list {
			text = text[:e.at] + e.text + text[e.at:]
		}
		changed[name] = []byte(text)
	}
	return changed, nil
}

// judgeVariable makes this program judge the outcomes in a file: see TestMain.
const judgeVariable = "FLOODMARK_SHELL_JUDGE"

// constructVariable says which outcomes it judges.
const constructVariable = "FLOODMARK_SHELL_CONSTRUCT"

// judgeFile prints how many outcomes of a file, of lines made with a construct,
// the scanner under-estimates.
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

// switchVariable says which row of the table counts, to the program that
// [buildSwitchable] makes.
const switchVariable = "FLOODMARK_SHELL_DISABLED"

// buildSwitchable builds this program with a scanner that can be told to
// overlook a construct.
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

// disabled takes one construct after the other from the scanner. Each time the
// lines that were watched must show it. A run in small tries a few.
func disabled(t *testing.T, j *judge, f *figures, kept []madeOutcome) {
	t.Helper()
	whole := map[string]int{} // what is wrong without any help
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

// judgeWithout says how many outcomes are under-estimated without a row.
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

// Every row of the table still fits the scanner, and every construct of the
// generator has one.
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
