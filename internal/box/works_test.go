package box_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/story"
)

//go:generate go test . -run ^TestWorksPage$ -update

var update = flag.Bool("update", false, "write the page of what works in a box")

// The page that says what works in a box is compared with testdata/works: here with what is decided
// about each call, and in TestBox with what the call does in a box.
const (
	worksPage  = "../../docs/reference/works-in-the-box.md"
	worksBegin = "<!-- rows: written by go generate from internal/box/testdata/works. Change those, not this. -->\n"
	worksEnd   = "<!-- /rows -->\n"
)

// A row is one call, the decision about it after a page was read, and what it does in a box.
type row struct {
	name  string // name of its file: the part of the page, and a word
	title string
	// answer is works, asks or never. why is the reason in one line.
	answer, why string
	// decision is the monitor's: contain, allow, confirm or restrict.
	decision   string
	background bool     // the command outlives its call
	needs      []string // programs; if one is missing, the row is not run in a box
	ordinary   bool     // not for root
	ownHome    bool     // toolchains are in the real home folder
	judged     bool     // the row is not run, because a box would show nothing
	seen       string   // where the result was seen, if its programs are not where the gate runs

	call string
	// What the call does in a box: its exit code, or minus a signal, and a part of its output.
	exit int
	said []string
	dial bool // no process outside can connect to its HOST_FREE once it prints «ready»

	before, after string            // shell scripts outside, in the project; after must succeed
	files         map[string]string // of the project
}

// rows reads the data, in the order of the page.
func rows(t *testing.T) (list []row) {
	t.Helper()
	names, err := filepath.Glob("testdata/works/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d rows, %v", len(names), err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := row{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), files: map[string]string{}}
		for line := range strings.Lines(string(a.Comment)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if !r.set(key, value) {
				t.Fatalf("%s: %s", name, line)
			}
		}
		for _, f := range a.Files {
			switch text := string(f.Data); f.Name {
			case "call":
				r.call = strings.TrimSpace(text)
			case "before":
				r.before = text
			case "after":
				r.after = text
			default:
				r.files[f.Name] = text
			}
		}
		list = append(list, r)
	}
	return list
}

// set reads one line of a row's head.
func (r *row) set(key, value string) bool {
	switch key {
	case "title":
		r.title = value
	case "answer":
		r.answer = value
	case "why":
		r.why = value
	case "decision":
		r.decision = value
	case "needs":
		r.needs = strings.Fields(value)
	case "seen":
		r.seen = value
	case "said":
		r.said = append(r.said, value)
	case "exit":
		n, err := strconv.Atoi(value)
		r.exit = n
		return err == nil
	case "flags":
		for flag := range strings.FieldsSeq(value) {
			switch flag {
			case "background":
				r.background = true
			case "ordinary":
				r.ordinary = true
			case "own-home":
				r.ownHome = true
			case "judged":
				r.judged = true
			case "dial":
				r.dial = true
			default:
				return false
			}
		}
	default:
		return false
	}
	return true
}

// decisions returns the decisions that an answer of the page can stand for.
func decisions(answer string) []string {
	return map[string][]string{"works": {"contain", "allow"}, "asks": {"confirm"}, "never": {"contain", "restrict"}}[answer]
}

// story returns a story with the row's call after a page was read.
func (r row) story(t *testing.T) string {
	t.Helper()
	args := map[string]any{"command": r.call}
	if r.background {
		args["run_in_background"] = true
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return "What is decided about one call.\n-- policy --\nversion: 1\nprofile: coding\n-- story --\nagent claude-code boxes\n" +
		"start project=/home/ada/app home=/home/ada\nowner Read https://news.example/tips and go on\n" +
		`call WebFetch {"url":"https://news.example/tips","prompt":"tips"} -> allow` + "\nreturns Test often.\n" +
		"call Bash " + string(text) + " -> " + r.decision + "\n"
}

// The decisions on the page are the monitor's decisions.
func TestWorksDecisions(t *testing.T) {
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows(t) {
		if r.title == "" || r.why == "" || r.call == "" || !slices.Contains(decisions(r.answer), r.decision) {
			t.Errorf("%s: something is missing, or %q is not what %q means", r.name, r.decision, r.answer)
		}
		got, err := story.Play(r.name, []byte(r.story(t)), shipped)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Mistakes {
			if verdict, _, _ := strings.Cut(m.Got, " "); m.Want != r.decision || verdict != r.decision { // reasons are not on the page
				t.Errorf("%s: %s", r.name, m)
			}
		}
	}
}

// parts returns the parts of the page, by the first word of a row's name.
func parts() [][2]string {
	return [][2]string{
		{"build", "Building and testing"},
		{"git", "Git"},
		{"packages", "Packages and caches"},
		{"servers", "Servers, databases and browsers"},
		{"keys", "Keys and displays"},
		{"shell", "Shells and processes"},
	}
}

// The page has every row. With -update it is written.
func TestWorksPage(t *testing.T) {
	data, err := os.ReadFile(worksPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	head, rest, ok1 := strings.Cut(text, worksBegin)
	_, tail, ok2 := strings.Cut(rest, worksEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the rows", worksPage)
	}
	want, shown := head+worksBegin, 0
	all := rows(t)
	for _, part := range parts() {
		want += "\n## " + part[1] + "\n\n| | | for example | why |\n|---|---|---|---|\n"
		for _, r := range all {
			if word, _, _ := strings.Cut(r.name, "-"); word == part[0] {
				want += r.line()
				shown++
			}
		}
	}
	if shown != len(all) {
		t.Errorf("%d of %d rows are in a part of the page", shown, len(all))
	}
	if want += "\n" + worksEnd + tail; *update {
		if err := os.WriteFile(worksPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("%s does not show the rows as they are; run go generate", worksPage)
	}
}

// line returns the row as it is on the page.
func (r row) line() string {
	why := r.why
	if r.seen != "" {
		why += " (seen: " + r.seen + ")"
	}
	call, more, _ := strings.Cut(r.call, "\n")
	if more != "" {
		call += " …"
	}
	cell := strings.NewReplacer("|", `\|`)
	return fmt.Sprintf("| %s | **%s** | `%s` | %s |\n", cell.Replace(r.title), r.answer, cell.Replace(call), cell.Replace(why))
}
