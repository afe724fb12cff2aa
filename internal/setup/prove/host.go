package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// hostTime is how long an agent may take. It takes seconds, or on a busy machine a minute.
const hostTime = 3 * time.Minute

// refused is the reason for refusing the canary. It must reach the model.
const refused = "this is a canary of «floodmark prove», which must not run."

// A judge takes the monitor's place. It refuses the call that contains word, replaces the command
// of the call that contains other, and allows everything else.
type judge struct {
	word           string
	other, instead string

	mu    sync.Mutex
	asked bool
}

// Handle answers as the monitor would.
func (j *judge) Handle(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
	if ev.Point == hook.BeforeToolCall && bytes.Contains(ev.Call.Args, []byte(j.word)) {
		j.mu.Lock()
		j.asked = true
		j.mu.Unlock()
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Restrict}, Line: refused}, nil
	}
	reply := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}
	if ev.Point == hook.BeforeToolCall && j.other != "" && bytes.Contains(ev.Call.Args, []byte(j.other)) {
		reply.Command = j.instead
	}
	return reply, nil
}

func (j *judge) wasAsked() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.asked
}

// workFolder is the agent's project, below home.
const workFolder = "work"

// The files that the model's commands make. The judge replaces the command for originalFile by one
// for rewrittenFile.
const (
	allowedFile   = "allowed-canary"
	refusedFile   = "refused-canary"
	originalFile  = "original-canary"
	rewrittenFile = "rewritten-canary"
)

// try runs the agent in a home of its own, with our settings as protect writes them, a judge in
// place of the monitor, and a model that makes three calls. unfit says why the agent does not run
// the replacement command. It is empty if it does.
func (h host) try(ctx context.Context, m protect.Machine, f protect.Found) (unfit string, err error) {
	home, err := os.MkdirTemp("", "fm-prove-") // short, because the path of a socket in it is limited
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	model := &testmodel.Model{Aside: "Canary", Say: h.script(home)}
	url, stopModel, err := serveModel(ctx, model)
	if err != nil {
		return "", err
	}
	defer stopModel()
	settings, known := testmodel.SettingsOf(f.Name, url)
	if !known {
		return "", fmt.Errorf("%s cannot be run with a scripted model", f.Title)
	}
	if err := writeBelow(home, settings.File, settings.Text); err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(home, workFolder), 0o700); err != nil {
		return "", err
	}
	own := protect.Machine{
		Getenv: func(name string) string {
			return map[string]string{"HOME": home, "PATH": m.Getenv("PATH")}[name]
		},
		Records: filepath.Join(home, "records"), Hook: m.Hook, Socket: filepath.Join(home, "s"),
	}
	plan, err := own.Protect(ctx, f.Name)
	if err == nil {
		err = plan.Apply()
	}
	if err != nil {
		return "", err
	}
	instead, err := agents.Quote([]string{"touch", filepath.Join(home, rewrittenFile)})
	if err != nil {
		return "", err
	}
	j := &judge{word: refusedFile, other: originalFile, instead: instead}
	stopJudge, err := serveJudge(ctx, own.Socket, j)
	if err != nil {
		return "", err
	}
	defer stopJudge()
	said, err := h.run(ctx, own, f.Program, append(settings.Env, h.env...))
	return ranOwn(home), h.verdict(home, j, model, said, err)
}

// script returns a script that makes the three calls, one after the other.
func (h host) script(home string) func(testmodel.Turn) testmodel.Step {
	touch := func(name string) testmodel.Step {
		return testmodel.Step{Calls: []testmodel.Call{h.shell("touch " + filepath.Join(home, name))}}
	}
	return testmodel.Script(touch(allowedFile), touch(refusedFile), touch(originalFile), testmodel.Step{Text: "Done."})
}

func (h host) run(ctx context.Context, m protect.Machine, program string, env []string) (said string, err error) {
	nowhere := "http://127.0.0.1:9"
	home := m.Getenv("HOME")
	cmd := exec.CommandContext(ctx, program, h.args...)
	cmd.Dir = filepath.Join(home, workFolder)
	cmd.Env = append([]string{
		"HOME=" + home, "PATH=" + m.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1",
		"http_proxy=" + nowhere, "https_proxy=" + nowhere, "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1",
	}, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// An interrupt, and not a kill, because a wrapper script passes it on to the agent.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end within %s", hostTime)
	}
	return out.String(), err
}

// isThere reports whether a command has made its file.
func isThere(home, name string) bool {
	_, err := os.Lstat(filepath.Join(home, name))
	return err == nil
}

// ranOwn returns why the agent does not run the command that it gets in place of its own, or "" if
// it does.
func ranOwn(home string) string {
	switch {
	case isThere(home, originalFile):
		return "it ran its own command when it was given another one"
	case !isThere(home, rewrittenFile):
		return "it did not run the command that it was given in place of its own"
	}
	return ""
}

// verdict returns what went wrong, by the files that exist, what the judge was asked and what the
// model got. It does not rely on what the agent says.
func (host) verdict(home string, j *judge, model *testmodel.Model, said string, ended error) error {
	there := func(name string) bool { return isThere(home, name) }
	told := ""
	if turns := model.Turns(); len(turns) > 0 {
		told = strings.Join(turns[len(turns)-1].Results, "\n")
	}
	switch {
	case there(refusedFile) && !j.wasAsked():
		return errors.New("it ran a command without asking")
	case there(refusedFile):
		return errors.New("it ran a command that was refused")
	case ended != nil:
		return fmt.Errorf("%w: %s", ended, tail(said))
	case !there(allowedFile):
		return errors.New("it did not run what was allowed, so nothing is shown: " + tail(said))
	case !j.wasAsked():
		return errors.New("it did not ask about the command that was to be refused: " + tail(said))
	case !strings.Contains(told, refused):
		return errors.New("its model was not told why the command was refused")
	}
	return nil
}

// maxTail bounds how much of a program's output is shown, in bytes.
const maxTail = 300

// tail returns the end of a program's output on one line, without control characters.
func tail(said string) string {
	said = strings.Join(strings.FieldsFunc(said, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
	return strings.ToValidUTF8(said[max(0, len(said)-maxTail):], "")
}

func writeBelow(home, name, text string) error {
	path := filepath.Join(home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// serveModel serves the model on loopback until stop is called.
func serveModel(ctx context.Context, model *testmodel.Model) (url string, stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: model.Handler(), ReadHeaderTimeout: canaryTime}
	var wait sync.WaitGroup
	wait.Go(func() { _ = s.Serve(l) }) // its error says that it was closed
	return "http://" + l.Addr().String(), func() { _ = s.Close(); wait.Wait() }, nil
}

// serveJudge answers hooks at a socket until stop is called.
func serveJudge(ctx context.Context, at string, j *judge) (stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "unix", at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	door := agents.Door{Hooks: j, Starts: agents.NewStarts(), Doubles: agents.NewDoubles(), Rewrites: agents.NewRewrites()}
	var wait sync.WaitGroup
	wait.Go(func() {
		_ = hookframe.ServeAll(ctx, l, func(net.Conn) hookframe.Handler { return door.Answer }, func(error) {}) // a hook that gets no answer refuses
	})
	return func() { cancel(); _ = l.Close(); wait.Wait() }, nil
}
