// Asking runs the long form of the tests about asking a person, and writes down the numbers that
// they count.
//
//	asking -root .. -json docs/evidence/asking.json
//
// It computes nothing itself: the numbers are those that the tests log.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A run is one claim about asking, with the tests of one package that show it.
type run struct {
	shows string
	pack  string
	tests string
	args  []string
	// figures is a pattern that finds numbers in the tests' log, by name. It must match.
	figures string
	// cells is how many innermost tests a matrix must have at least; 0 if it is no matrix.
	cells int
}

// runs returns all claims, except that of questions that survive a kill, which kill runs.
func runs() []run {
	return []run{
		{
			shows: "no byte of tool output or agent text reaches the auditor", pack: "./internal/ask/auditor", tests: "^TestCanaries$", args: []string{"-sessions", "10000"},
			figures: `(?P<sessions>\d+) sessions, (?P<ownerMessages>\d+) owner messages, (?P<canaries>\d+) canaries, (?P<requestsOnTheWire>\d+) requests`,
		},
		{
			shows: "one winner among eight channels", pack: "./monitor", tests: "^TestExactlyOneOfEightChannelsWins$", args: []string{"-full"},
			figures: `(?P<rounds>\d+) times one of (?P<channels>\d+) channels won`,
		},
		{
			shows: "a no among eight answers wins", pack: "./monitor", tests: "^TestANoAmongEightBeatsTheYes$", args: []string{"-full"},
			figures: `(?P<rounds>\d+) times one no beat seven yes`,
		},
		{
			shows: "a grant is for what was shown, to the byte", pack: "./kernel", tests: "^TestLawAGrantIsForWhatWasShown$", args: []string{"-full"},
			figures: `(?P<cases>\d+) cases, approvals by kind map\[minutes:(?P<minutes>\d+) once:(?P<once>\d+) pattern check:(?P<patternCheck>\d+) pattern host:(?P<patternHost>\d+) pattern keep:(?P<patternWrite>\d+) pattern send:(?P<patternSend>\d+) tool:(?P<tool>\d+) turn:(?P<turn>\d+)\], (?P<markSank>\d+) times`,
		},
		{
			shows: "wrong codes void a question", pack: "./monitor", tests: "^TestGuessingCodes$", args: []string{"-full"},
			figures: `(?P<wrongCodes>\d+) wrong codes: (?P<counted>\d+) counted, (?P<voided>\d+) question voided, (?P<incidents>\d+) incident`,
		},
		{shows: "codes are compared in one place, in constant time", pack: "./approval", tests: "^(TestCodesAreComparedInOnePlace|TestComparisonsAreFound)$"},
		{shows: "failMode x failure: webhook", pack: "./internal/ask/webhook", tests: "^TestFailureMatrix$", cells: 18},
		{shows: "failMode x failure: auditor", pack: "./internal/ask/auditor", tests: "^TestFailureMatrix$", cells: 54},
		{shows: "failMode x failure: Telegram, through the daemon", pack: "./internal/service/daemon", tests: "^TestThePhonesFailures$", cells: 18},
		{shows: "every failure of Telegram is readable", pack: "./internal/ask/telegram", tests: "^(TestTheGatesFailures|TestTheGateWithoutAServer|TestEveryFailureIsReadable|TestNobodyThere)$", cells: 18},
		{
			shows: "a thousand questions are asked again", pack: "./monitor", tests: "^TestOpenQuestionsAreAskedAgain$", args: []string{"-full"},
			figures: `(?P<asked>\d+) questions asked again in`,
		},
	}
}

// A shown is the result of one run.
type shown struct {
	Shows   string         `json:"shows"`
	Package string         `json:"package"`
	Tests   string         `json:"tests"`
	Cells   int            `json:"cells,omitempty"`
	Figures map[string]int `json:"figures,omitempty"`
	Seconds float64        `json:"seconds"`
}

func main() {
	root := flag.String("root", "..", "the `FOLDER` of the module")
	file := flag.String("json", "", "write what was counted to this `FILE`")
	seed := flag.Uint64("seed", 1, "chooses what happens when the monitor is killed")
	tickets := flag.Int("tickets", 1000, "how many questions are open when the monitor is killed")
	flag.Parse()
	if err := all(context.Background(), *root, *file, *seed, *tickets); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func all(ctx context.Context, root, file string, seed uint64, tickets int) error {
	commit, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("name the commit: %w", err)
	}
	began := time.Now()
	var list []shown
	for _, r := range runs() {
		s, err := r.run(ctx, root)
		if err != nil {
			return fmt.Errorf("%s: %w", r.shows, err)
		}
		fmt.Printf("%-60s %6.1f s  %v cells %d\n", s.Shows, s.Seconds, s.Figures, s.Cells)
		list = append(list, s)
	}
	killed, err := kill(ctx, root, seed, tickets)
	if err != nil {
		return fmt.Errorf("questions that outlive a kill: %w", err)
	}
	data, err := json.MarshalIndent(map[string]any{
		"commit": strings.TrimSpace(string(commit)), "seed": seed, "seconds": time.Since(began).Seconds(), "shown": list, "tickets": killed,
	}, "", "  ")
	if err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// kill runs the test with the real program, which writes its own counts.
func kill(ctx context.Context, root string, seed uint64, tickets int) (json.RawMessage, error) {
	dir, err := os.MkdirTemp("", "asking")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := run{pack: "./soak", tests: "^TestTicketsSurviveKilling$", args: []string{"-tickets", strconv.Itoa(tickets), "-seed", strconv.FormatUint(seed, 10), "-evidence", dir}}
	if _, err := r.run(ctx, filepath.Join(root, "lab")); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "asking.json"))
	if err != nil {
		return nil, err
	}
	var whole struct{ Tickets json.RawMessage }
	err = json.Unmarshal(data, &whole)
	fmt.Printf("%s\n", whole.Tickets)
	return whole.Tickets, err
}

// event has the used fields of a line of «go test -json».
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// run runs the tests. It returns an error if a test fails, none ran, or a figure is missing.
func (r run) run(ctx context.Context, root string) (shown, error) {
	s := shown{Shows: r.shows, Package: r.pack, Tests: strings.Trim(r.tests, "^$"), Figures: map[string]int{}}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-timeout=30m", "-run", r.tests, r.pack}, r.args...)...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	ended := cmd.Run()
	passed, inner, said, err := read(&out)
	if err := errors.Join(ended, err); err != nil {
		return s, fmt.Errorf("%w\n%s", err, said)
	}
	for name, took := range passed {
		if !strings.Contains(name, "/") {
			s.Seconds += took
		}
	}
	if len(passed) == 0 {
		return s, errors.New("no test ran")
	}
	if r.cells > 0 {
		if s.Cells = inner; inner < r.cells {
			return s, fmt.Errorf("%d cells were tried, want at least %d", inner, r.cells)
		}
	}
	if r.figures == "" {
		return s, nil
	}
	names := regexp.MustCompile(r.figures)
	found := names.FindStringSubmatch(said)
	if found == nil {
		return s, fmt.Errorf("the tests do not say %s:\n%s", r.figures, said)
	}
	for i, name := range names.SubexpNames() {
		if name != "" {
			if s.Figures[name], err = strconv.Atoi(found[i]); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// read reads the output of the tests: which passed and in how many seconds, how many of those have
// no subtests, and all printed text.
func read(out *bytes.Buffer) (passed map[string]float64, inner int, said string, err error) {
	passed = map[string]float64{}
	var words strings.Builder
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, 0, "", fmt.Errorf("read what the tests said: %w", err)
		}
		switch {
		case e.Test != "" && e.Action == "pass":
			passed[e.Test] = e.Elapsed
		case e.Test != "" && e.Action == "skip":
			return nil, 0, "", fmt.Errorf("%s was left out", e.Test)
		case e.Action == "output":
			words.WriteString(e.Output)
		}
	}
	for name := range passed {
		leaf := true
		for other := range passed {
			leaf = leaf && !strings.HasPrefix(other, name+"/")
		}
		if leaf {
			inner++
		}
	}
	return passed, inner, words.String(), lines.Err()
}
