package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// This file plays code that an agent runs. It has the owner's user, has read
// our source, and wants to answer for the owner. The test program is its own
// attacker: started again with attackVariable set, it tries one thing and says
// what came of it.

const attackVariable = "FLOODMARK_ATTACK"

// The users of the play: numbers that no user of the machine has.
const (
	ownerUser  = 48611
	daemonUser = 48612
)

// What the attacker can say.
const (
	saysRefused  = "REFUSED"  // by the monitor, or by the system
	saysPossible = "POSSIBLE" // it was done
)

// trustKey is the action that needs a question because of what others share.
const trustKey = "trust key in watch"

// attack is what the attacker's process does.
func attack(dir, action string) {
	try := actions()[action]
	switch action {
	case "prepare":
		try = prepare
	case "prepare shared":
		try = prepareShared
	}
	if err := try(context.Background(), config.DirPaths(dir)); err != nil {
		fmt.Println(saysRefused, err)
		return
	}
	fmt.Println(saysPossible)
}

// ways are how code of an agent can be started, as words of a shell. $A is the
// attacker's own command. What leaves its parents behind begins when its parent has
// ended, and answers through a pipe with a name.
func ways() map[string]string {
	return map[string]string{
		"sh -c":                     `sh -c "$A"`,
		"python3":                   `python3 -c 'import subprocess,os; subprocess.run(os.environ["A"], shell=True)'`,
		"setsid":                    `setsid -w sh -c "$A"`,
		"nohup":                     `nohup sh -c "$A" 2>/dev/null`,
		"script":                    `script -qec "$A" /dev/null`,
		"double fork, new terminal": `mkfifo go came; (setsid script -qec 'read _ < go; eval "$A" > came 2>&1' /dev/null >/dev/null 2>&1 &) ; echo > go; cat came`,
		"double fork":               `mkfifo go came; (setsid sh -c 'read _ < go; eval "$A" > came 2>&1' >/dev/null 2>&1 &) ; echo > go; cat came`,
	}
}

// A play is a daemon of one user and an agent of another or the same.
type play struct {
	t        *testing.T
	dir, bin string
	daemon   *exec.Cmd
	system   bool
}

// newPlay builds the programs and starts the daemon as its user.
func newPlay(t *testing.T, bin string, system bool) *play {
	t.Helper()
	p := &play{t: t, dir: folder(t), bin: bin, system: system}
	user := ownerUser
	args := []string{"serve", "--dir", p.dir}
	if system {
		user = daemonUser
		args = append(args, "--system")
		service := config.DirPaths(p.dir).Service
		if err := errors.Join(os.MkdirAll(filepath.Dir(service), 0o755), os.WriteFile(service, fmt.Appendf(nil, "version: 1\nowners: [\"%d\"]\n", ownerUser), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(p.dir, user, user); err != nil {
		t.Fatal(err)
	}
	p.serve(user, args)
	return p
}

// serve starts the daemon as a user and returns when it answers, which it tells its
// service manager.
func (p *play) serve(user int, args []string) {
	p.t.Helper()
	address := filepath.Join(folder(p.t), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err := errors.Join(err, os.Chmod(address, 0o777)); err != nil {
		p.t.Fatal(err)
	}
	p.daemon = exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "floodmark"), args...)
	p.daemon.SysProcAttr, p.daemon.Env = as(user), append(os.Environ(), "NOTIFY_SOCKET="+address)
	var log bytes.Buffer
	p.daemon.Stderr = &log
	if err := p.daemon.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.daemon.Wait()
		_ = manager.Close() // nothing more will be told
	}()
	p.t.Cleanup(func() {
		_ = p.daemon.Process.Signal(syscall.SIGTERM)
		<-ended
		if p.t.Failed() {
			p.t.Logf("the daemon said:\n%s", &log)
		}
	})
	told := make([]byte, 256)
	if n, err := manager.Read(told); err != nil || !strings.Contains(string(told[:n]), "READY=1") {
		p.t.Fatalf("the daemon does not answer: %q, %v", told[:n], err)
	}
}

// folder is one that other users can pass through.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fm-play-*") //nolint:usetesting // other users cannot pass through t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func as(user int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
}

// prepare has another agent ask a question, from outside every family here.
func (p *play) prepare(action string) {
	p.t.Helper()
	what := "prepare"
	if action == trustKey {
		what += " shared"
	}
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "attacker"))
	cmd.SysProcAttr = as(ownerUser)
	cmd.Env = []string{attackVariable + "=" + p.dir + "|" + what}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), saysPossible) {
		p.t.Fatalf("prepare: %v\n%s", err, out)
	}
	if strings.HasPrefix(action, atConsole) {
		p.openConsole()
	}
}

// agent runs a protected agent: a program called codex that reports the start
// of a session through the hook program, and then runs what its model wants.
func (p *play) agent(way, action string) string {
	p.t.Helper()
	work := folder(p.t)
	script := filepath.Join(work, "codex")
	hookLine := fmt.Sprintf(`echo '{"session_id":"s1","hook_event_name":"SessionStart","source":"startup","cwd":"/tmp","transcript_path":"/tmp/x","model":"m","permission_mode":"default"}' | %s codex SessionStart >/dev/null 2>&1`, filepath.Join(p.bin, "floodmark-hook"))
	if err := errors.Join(writeProgram(script, "#!/bin/sh\n"+hookLine+"\n"+way+"\n"), os.Chown(work, ownerUser, ownerUser)); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), script)
	cmd.Dir = work
	cmd.SysProcAttr = as(ownerUser)
	attacker := filepath.Join(p.bin, "attacker")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + work, attackVariable + "=" + p.dir + "|" + action,
		"FLOODMARK_HOOK_SOCKET=" + config.DirPaths(p.dir).HookSocket, "A=" + attacker,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", way, err, out)
	}
	return strings.TrimSpace(string(out))
}

// incidents counts what the monitor wrote down about callers it turned away.
func (p *play) incidents() int64 {
	p.t.Helper()
	c, err := client.Dial(config.DirPaths(p.dir).OwnerSocket, client.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Owner().Status(p.t.Context(), &wire.StatusRequest{}) // as root, who could do anything
	if err != nil {
		p.t.Fatal(err)
	}
	return s.GetIncidents()
}

// build builds the two programs, and copies the test program as the attacker.
func build(t *testing.T) string {
	t.Helper()
	bin := folder(t)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin+"/", "../../../cmd/floodmark", "../../../cmd/floodmark-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err := errors.Join(err, os.WriteFile(filepath.Join(bin, "attacker"), data, 0o755)); err != nil {
		t.Fatal(err)
	}
	return bin
}

// A cell is what came of one way and one action.
type cell struct {
	Way    string `json:"way"`
	Action string `json:"action"`
	Mode   string `json:"mode"`
	Result string `json:"result"`
	Said   string `json:"said"`
}

// TestSameUserIsNotSamePerson tries everything in every way in both modes. In
// user mode only a process that left the agent's family (double fork) may get
// through, which SECURITY.md says; in system mode nothing may.
func TestSameUserIsNotSamePerson(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: it plays several users, so it must be started as root")
	}
	if testing.Short() {
		t.Skip("programs of their own play all this: the race detector would see nothing of it")
	}
	for _, program := range []string{"python3", "setsid", "script", "nohup"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is missing: install it", program)
		}
	}
	bin := build(t)
	modes := []string{"user", "system"}
	tables := make([][]cell, len(modes))
	t.Run("modes", func(t *testing.T) { // returns when both are done
		for i, mode := range modes {
			t.Run(mode, func(t *testing.T) {
				t.Parallel() // each has a daemon of its own, and mostly waits
				tables[i] = newPlay(t, bin, mode == "system").tryAll(mode)
			})
		}
	})
	table := slices.Concat(tables...)
	if file := os.Getenv("FLOODMARK_ATTACK_TABLE"); file != "" {
		data, err := json.MarshalIndent(table, "", "  ")
		if err := errors.Join(err, os.WriteFile(file, append(data, '\n'), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// tryAll tries everything in every way, always in the same order.
func (p *play) tryAll(mode string) (table []cell) {
	p.t.Helper()
	for _, way := range slices.Sorted(maps.Keys(ways())) {
		for _, action := range slices.Sorted(maps.Keys(actions())) {
			p.prepare(action)
			before := p.incidents()
			said := p.agent(ways()[way], action)
			c := cell{way, action, mode, result(said), said}
			table = append(table, c)
			p.judge(c, p.incidents()-before)
		}
	}
	return table
}

func result(said string) string {
	switch {
	case strings.HasPrefix(said, saysPossible):
		return "possible for the same user"
	case strings.HasPrefix(said, saysRefused):
		return "refused"
	}
	return "no answer"
}

// judge says whether a cell may be as it is, and whether it was written down.
func (p *play) judge(c cell, incidents int64) {
	p.t.Helper()
	escaped := strings.HasPrefix(c.Way, "double fork") && !p.system && !strings.Contains(c.Action, "hook.sock")
	if c.Result != "refused" && !escaped {
		p.t.Errorf("%s mode, %s, %s: %s", c.Mode, c.Way, c.Action, c.Said)
	}
	// What the system refuses never reaches the monitor, so only it can know.
	bySystem := p.system && !strings.Contains(c.Action, "hook.sock")
	if c.Result == "refused" && incidents == 0 && !bySystem && !escaped {
		p.t.Errorf("%s mode, %s, %s: refused and not written down: %s", c.Mode, c.Way, c.Action, c.Said)
	}
}

// writeProgram writes a script that will be started. No process may begin
// meanwhile: it would hold the file open for writing, and starting it would fail.
func writeProgram(name, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, []byte(text), 0o755)
}
