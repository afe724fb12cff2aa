package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
)

var update = flag.Bool("update", false, "rewrite the pages and scripts that are generated")

// TestScripts plays testdata/*.txtar. Besides testscript's own commands they
// know:
//
//	floodmark ARG…       run a command line in this process
//	terminal ARG…        the same, with terminals at stdout and stderr
//	code N               the last one must have ended with N
//	stdout2file FILE     keep the last one's standard output
//	get FILE PATH WANT   the value at a.b[0].c in FILE must be WANT
//	absent PATTERN       neither stdout nor stderr of the last one may match
//	answers DIR          wait until the monitor below DIR answers
//	until REGEXP PROGRAM ARG…
//	                     run a program again and again until it prints that
//	tty [-pipe] STEPS ARG…
//	                     run floodmark at a pseudo terminal; see tty_system_linux_test.go
//	follow NAME ARG…     run a command beside the script until
//	followed NAME REGEXP that was printed; then end it
//	capture NAME REGEXP  set the variable to what the brackets match in stdout
//	receiver FILE STATUS TEXT [SETTING]…
//	                     a server that answers webhooks, and its service.yaml
//	pins DIR SERVER COMMAND FILE
//	                     what a server says of itself; see mcpreview_test.go
//	fleet VERB …         a network door with an identity provider; see fleet_system_test.go
//	bot VERB …           a server that speaks Telegram's Bot API; see bot_test.go
//
// and as programs, with exec: floodmark-real, which is floodmark itself; «post SOCKET FILE», which sends
// one event a line as an agent would; «agent SOCKET FILE ARG…», which does the
// same and then runs floodmark as a child.
func TestScripts(t *testing.T) {
	t.Parallel()
	s := &scripts{ctx: untilTimeout(t)}
	testscript.Run(t, testscript.Params{
		Files:               toPlay(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[lastKey{}] = &last{}
			env.Values[botKey{}] = new(*bottest.Server)
			env.Values[fleetKey{}] = new(*oidctest.Provider)
			env.Values[followersKey{}] = map[string]*follower{}
			env.Setenv("HOME", env.WorkDir+"/home")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"floodmark": s.floodmark(false), "terminal": s.floodmark(true),
			"answers": s.answers, "until": s.until, "tty": s.tty, "capture": s.capture,
			"follow": s.follow, "pins": s.pins, "followed": s.followed, "bot": s.bot, "fleet": s.fleet, "receiver": s.receiver,
			"code": s.code, "stdout2file": s.toFile, "get": s.get, "absent": s.absent,
		},
	})
}

// toPlay returns all scripts, first the slowest ones, which wait for other programs. A short run,
// as under the race detector, plays only scripts with concurrent actors: at a terminal, on a phone,
// or as a provider.
func toPlay(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	beside := regexp.MustCompile(`(?m)^(follow|tty|bot|fleet) `)
	var first, rest []string
	for _, file := range all {
		if beside.MatchString(readOptional(file)) {
			first = append(first, file)
		} else {
			rest = append(rest, file)
		}
	}
	if testing.Short() {
		return first
	}
	return append(first, rest...)
}

// untilTimeout returns a context that ends shortly before the go command would end the test, so
// that a script that hangs still says what it waited for.
func untilTimeout(t *testing.T) context.Context {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), end.Add(-5*time.Second))
	t.Cleanup(cancel)
	return ctx
}

type scripts struct{ ctx context.Context }

type lastKey struct{}

// A last is the result of the last command of a script.
type last struct {
	code           int
	stdout, stderr bytes.Buffer
}

func (s *scripts) floodmark(terminal bool) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		l := ts.Value(lastKey{}).(*last)
		*l = last{}
		c := &cli.Console{
			Stdin: strings.NewReader(readOptional(ts.MkAbs("stdin"))),
			// testscript keeps what is written here for stdout, stderr and cmp.
			Stdout: io.MultiWriter(ts.Stdout(), &l.stdout), Stderr: io.MultiWriter(ts.Stderr(), &l.stderr),
			Getenv: ts.Getenv, Dir: ts.MkAbs("."), Build: testBuild(), Shipped: shippedOnce,
			StdoutTerminal: terminal, StderrTerminal: terminal, StdinTerminal: terminal,
		}
		l.code = run(s.ctx, c, args)
		if failed := l.code != cli.ExitOK; failed != neg {
			ts.Fatalf("exit code %d", l.code)
		}
	}
}

func testBuild() cli.Build {
	return cli.NewBuild("v1.2.3", &debug.BuildInfo{GoVersion: "go1.26.0", Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "GOOS", Value: "linux"},
		{Key: "GOARCH", Value: "amd64"},
	}})
}

func readOptional(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func (*scripts) code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: code N")
	}
	if got := strconv.Itoa(ts.Value(lastKey{}).(*last).code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
