package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const rows = `# Page
| | behaviour | state | proof |
|---|---|---|---|
| 0.01 | a | present | story seeds/x; test kernel TestA |
| 0.02 | b | different | decision 0004; test monitor TestB/it_holds |
| 0.03 | c | part | some (test kernel TestNever); more |
| 0.04 | d | present | test lab/e2e TestM/*/deny |
`

func TestRowsNameTests(t *testing.T) {
	proofs, err := parse([]byte(rows))
	if err != nil || len(proofs) != 3 {
		t.Fatalf("%+v, %v", proofs, err)
	}
	if want := (proof{line: 5, row: "0.02", pkg: "monitor", test: "TestB/it_holds"}); proofs[1] != want {
		t.Errorf("got %+v, want %+v", proofs[1], want)
	}
	for line, want := range map[string]string{
		"| 0.05 | e | present | |\n":                     "seeds.md:8: this is no row",
		"| 0.05 | e | present |  |\n":                    "seeds.md:8: this is no row",
		"| 0.5 | e | present | test kernel TestA |\n":    "seeds.md:8: this is no row",
		"| 0.05 | e | present | see above |\n":           `seeds.md:8: row 0.05: "see above" is no proof`,
		"| 0.05 | e | present | test TestA |\n":          `"test TestA" is no proof`,
		"| 0.05 | e | different | story a; and more |\n": `"and more" is no proof`,
	} {
		_, err := parse([]byte(rows + line))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

func TestAPageWithoutTestsIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seeds.md")
	if err := os.WriteFile(file, []byte("# Nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readPage(file); err == nil || !strings.Contains(err.Error(), "names no test") {
		t.Error(err)
	}
}

func TestPatternRunsTheseTestsOnly(t *testing.T) {
	if got, want := pattern([]string{"TestA", "TestM/*/a.b"}), `^TestA$|^TestM$/^.*$/^a\.b$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// said is the output of «go test -json» for one run.
const said = `{"Action":"run","Test":"TestA"}
{"Action":"pass","Test":"TestA"}
{"Action":"output","Test":"TestS","Output":"no server\n"}
{"Action":"skip","Test":"TestS"}
{"Action":"output","Test":"TestF","Output":"--- PASS: TestGone (0.00s)\n"}
{"Action":"fail","Test":"TestF"}
{"Action":"run","Test":"TestHangs"}
{"Action":"pass","Test":"TestM/pi/deny"}
{"Action":"skip","Test":"TestM/codex/deny"}
{"Action":"pass","Test":"TestM/codex"}
{"Action":"pass","Test":"TestM/pi"}
{"Action":"pass","Test":"TestM"}
{"Action":"pass"}
`

func TestOnlyWhatPassedIsAProof(t *testing.T) {
	o, err := readEvents(bufio.NewReader(strings.NewReader(said)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for test, want := range map[string]string{
		"TestA":         "",
		"TestM/pi/deny": "",
		"TestM/pi":      "",
		"TestM/*/deny":  "TestM/codex/deny was skipped",
		"TestM":         "TestM/codex/deny was skipped",
		"TestS":         "TestS was skipped, so it proves nothing: give it what it needs, or name a test that runs here\nno server",
		"TestF":         "TestF failed",
		"TestGone":      "no test of this name ran",
		"TestHangs":     "no test of this name ran",
		"TestA/sub":     "no test of this name ran",
		"Test":          "no test of this name ran",
	} {
		if got := o.judge(proof{test: test}); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", test, got, want)
		}
	}
	got := strings.Join(o.left([]string{"TestA", "TestM", "TestGone", "TestF"}), " ")
	if want := "TestGone TestM/codex/deny"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
	var out bytes.Buffer
	if n := report(&out, []proof{{line: 7, row: "0.04", pkg: "kernel", test: "TestS"}}, o); n != 1 || !strings.HasPrefix(out.String(), page+":7: row 0.04: test kernel TestS: TestS was skipped") {
		t.Errorf("%d, %s", n, out.String())
	}
}

// A second run may pass a test that the first run skipped, but not one that the first run failed.
func TestWhatFailedHasFailed(t *testing.T) {
	again := `{"Action":"pass","Test":"TestS"}
{"Action":"pass","Test":"TestF"}
`
	o, err := readEvents(bufio.NewReader(strings.NewReader(said+again)), nil)
	if err != nil || o.ended["TestS"] != "pass" || o.ended["TestF"] != "fail" {
		t.Errorf("%v, %v", o.ended, err)
	}
}

func TestWhatIsHeardIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	var out bytes.Buffer
	for range 2 {
		if err := hear(strings.NewReader(said+"go: no such flag\n"), &out, file); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || strings.Count(string(kept), `"TestM/pi/deny"`) != 2 {
		t.Errorf("%s, %v", kept, err)
	}
	if got, want := out.String(), "no server\n--- PASS: TestGone (0.00s)\ngo: no such flag\n"; got != want+want {
		t.Errorf("printed %q", got)
	}
}
