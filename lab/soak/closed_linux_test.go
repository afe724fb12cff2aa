package soak

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A trouble is something that is wrong, with what callers must be told.
type trouble struct {
	// bring causes it and returns the socket to ask.
	bring    func(t *testing.T) string
	question question
	// reason and remedy must match the text that callers get.
	reason, remedy string
	// silent means that no process is there to answer a raw caller.
	silent bool
	// slow means that the answer would come too late.
	slow bool
}

// deadline returns every caller's timeout: if something is slow, less than it takes, else as long
// as the slowest machine needs.
func (tr trouble) deadline() time.Duration {
	if tr.slow {
		return 2 * time.Second
	}
	return time.Minute
}

const (
	noAnswer = `did not answer|not running|gave no answer|could not be asked`
	restart  = `floodmark (status|serve|doctor)`
	tooMuch  = `too much is happening at once`
	mendCall = `(?i)split the content|reference of the hook API|floodmark status|compare the versions|write it again`
)

// troubles returns all troubles we know. What each needs is removed when its test ends.
func troubles() map[string]trouble {
	return map[string]trouble{
		"daemon killed":                  {bring: killedMonitor, reason: noAnswer, remedy: restart, silent: true},
		"daemon killed while it answers": {bring: dyingMonitor, reason: noAnswer, remedy: restart, silent: true},
		"socket gone":                    {bring: goneSocket, reason: noAnswer, remedy: restart, silent: true},
		"policy unreadable at the start": {bring: unreadablePolicy, reason: noAnswer, remedy: restart, silent: true},
		"policy wrong at the start":      {bring: wrongPolicy, reason: noAnswer, remedy: restart, silent: true},
		"daemon hangs":                   {bring: hangingMonitor, reason: noAnswer + `|in time`, remedy: restart, silent: true, slow: true},
		"slow disk":                      {bring: slowDisk, reason: `no time left`, remedy: `Try again`, slow: true},
		"disk full":                      {bring: fullDisk, reason: `no room on the disk`, remedy: `Make room`},
		"disk fails":                     {bring: failingDisk, reason: `could not be judged or recorded|not known whether|writes no more`, remedy: `room on the disk|Try again|Look at the disk`},
		"monitor busy":                   {bring: busyMonitor, reason: tooMuch, remedy: `Try again`},
		"policy unreadable at a reload":  {bring: lostPolicy, reason: `the policy says restrict`, remedy: `cannot be approved`},
		"policy wrong at a reload":       {bring: spoiltPolicy, reason: `the policy says restrict`, remedy: `cannot be approved`},
		"unknown event":                  {bring: soundMonitor, question: unknownEvent, reason: `not understood|not known|unknown`, remedy: mendCall},
		"oversized event":                {bring: soundMonitor, question: oversized, reason: `too large|over \d+ bytes|more than \d+ bytes`, remedy: mendCall},
		"malformed JSON":                 {bring: soundMonitor, question: malformed, reason: `not JSON|not understood|cannot be read`, remedy: mendCall},
	}
}

// A cell is one caller in one trouble.
type cell struct {
	Trouble string `json:"trouble"`
	Caller  string `json:"caller"`
	Told    string `json:"told"` // «no», or «no answer», which is a no
	Text    string `json:"text"`
	Took    int64  `json:"ms"`
	Most    int64  `json:"deadlineMs"`
}

// TestFailsClosed causes every trouble and asks in every way. The caller is told no, why, and what
// to do, before its timeout.
func TestFailsClosed(t *testing.T) {
	long(t)
	var table []cell
	t.Run("all is well", func(t *testing.T) {
		socket := soundMonitor(t)
		for name, ask := range callers(t, trouble{}.deadline()) {
			if a := ask(socket, plainCall); !a.allowed {
				t.Errorf("%s: refused even when nothing is wrong, so that the table says nothing: %+v", name, a)
			}
		}
	})
	all := troubles()
	for _, what := range slices.Sorted(maps.Keys(all)) {
		t.Run(what, func(t *testing.T) {
			tr := all[what]
			ways := callers(t, tr.deadline())
			for _, who := range slices.Sorted(maps.Keys(ways)) {
				table = append(table, judge(t, tr, what, who, ways[who](tr.bring(t), tr.question)))
			}
		})
	}
	writeEvidence(t, "fail-closed.json", "", map[string]any{"commit": commit(t), "cells": table})
}

// judge checks one cell.
func judge(t *testing.T, tr trouble, what, who string, a answer) cell {
	t.Helper()
	c := cell{Trouble: what, Caller: who, Told: "no", Text: plain(a.text), Took: a.took.Milliseconds(), Most: tr.deadline().Milliseconds()}
	if a.allowed {
		t.Errorf("%s: ALLOWED: %s", who, a.text)
		c.Told = "yes"
	}
	if a.none {
		c.Told = "no answer, which is a no"
	}
	for _, wrong := range tr.wrong(a) {
		t.Errorf("%s: %s", who, wrong)
	}
	return c
}

// wrong returns what is wrong with a no.
func (tr trouble) wrong(a answer) (list []string) {
	late := a.took >= tr.deadline()
	if a.took > tr.deadline()+500*time.Millisecond && *evidence != "" { // the gate runs on machines that stall
		list = append(list, fmt.Sprintf("told after %s, wanted to know in %s", a.took, tr.deadline()))
	}
	if late && tr.slow && *evidence == "" { // the caller got no answer in time, and knows that
		tr.silent = true
		tr.reason, tr.remedy = tr.reason+"|"+noAnswer, tr.remedy+"|"+restart
	}
	if a.none {
		if !tr.silent {
			list = append(list, "nobody answered: "+a.text)
		}
		return list
	}
	for what, pattern := range map[string]string{"reason": tr.reason, "remedy": tr.remedy} {
		if !regexp.MustCompile(pattern).MatchString(a.text) {
			list = append(list, fmt.Sprintf("no %s in %q", what, a.text))
		}
	}
	return list
}

// plain returns one line without the parts that differ from run to run.
func plain(s string) string {
	s = regexp.MustCompile(`/\S*/fm\d+\S*`).ReplaceAllString(s, "SOCKET")
	return strings.Join(strings.Fields(s), " ")
}

func soundMonitor(t *testing.T) string { return serve(t, folder(t), "").paths.HookSocket }

func killedMonitor(t *testing.T) string {
	r := serve(t, folder(t), "")
	r.kill()
	if _, err := os.Stat(r.paths.HookSocket); err != nil {
		t.Fatalf("a killed monitor leaves its socket: %v", err)
	}
	return r.paths.HookSocket
}

func dyingMonitor(t *testing.T) string { return serve(t, folder(t), "before-reply:1").paths.HookSocket }

func goneSocket(t *testing.T) string { return config.DirPaths(folder(t)).HookSocket }

// unstarted starts a monitor that must refuse to start, and say why.
func unstarted(t *testing.T, dir string, says ...string) string {
	t.Helper()
	r := launch(t, dir, "")
	if r.ready() {
		t.Fatal("it started")
	}
	for _, want := range says {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, r.out)
		}
	}
	if r.cmd.ProcessState.ExitCode() <= 0 {
		t.Errorf("it ended with %s", r.cmd.ProcessState)
	}
	return r.paths.HookSocket
}

func unreadablePolicy(t *testing.T) string {
	dir := folder(t)
	if err := os.MkdirAll(config.DirPaths(dir).Policy, 0o700); err != nil { // root can read every file, but not a folder as a file
		t.Fatal(err)
	}
	return unstarted(t, dir, "read the policy", "mend this and start again")
}

func wrongPolicy(t *testing.T) string {
	dir := folder(t)
	put(t, config.DirPaths(dir).Policy, "version: 1\nprofil: strict\n")
	return unstarted(t, dir, "profil", "floodmark policy check")
}

func hangingMonitor(t *testing.T) string {
	r := serve(t, folder(t), "")
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return r.paths.HookSocket
}

func slowDisk(t *testing.T) string {
	return serve(t, folder(t), "before-append:1:10m").paths.HookSocket
}

// busyMonitor returns a monitor in which as many events wait as are allowed, in the sessions that
// are asked about, because the disk is slow.
func busyMonitor(t *testing.T) string {
	r := serve(t, folder(t), "before-append:1:10m")
	c, err := client.Dial(r.paths.HookSocket, client.Options{Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	const crowd, places = 80, 64
	sessions := []string{"f1", "codex:f1", "pi:f1"}
	full := make(chan struct{}, len(sessions)*crowd)
	var all sync.WaitGroup
	for _, session := range sessions {
		for range crowd {
			all.Go(func() {
				reply, _ := c.Handle(t.Context(), call(session)) // those that got a place wait
				if strings.Contains(reply.Line, tooMuch) {
					full <- struct{}{}
				}
			})
		}
	}
	t.Cleanup(func() { r.kill(); all.Wait(); c.Close() })
	began := time.Now()
	// Besides those that wait, one is being written, and one may be judged. If more may wait than
	// should, this loop blocks.
	for range len(sessions) * (crowd - places - 2) {
		<-full
	}
	t.Logf("the places were taken after %s", time.Since(began).Round(time.Millisecond))
	time.Sleep(2 * time.Second) // until the last ones that got in are judged
	return r.paths.HookSocket
}

// fullDisk returns a monitor whose disk has no space for another event.
func fullDisk(t *testing.T) string {
	d := newDisk(t, 24)
	dir := filepath.Join(d.place, "f")
	r := serve(t, dir, "")
	fill(t, filepath.Join(d.place, "ballast"))
	return r.paths.HookSocket
}

// failingDisk returns a monitor whose disk fails all writes.
func failingDisk(t *testing.T) string {
	d := newDisk(t, 24)
	r := serve(t, filepath.Join(d.place, "f"), "")
	d.cut()
	return r.paths.HookSocket
}

// fill writes until nothing more fits on the disk.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		err = nil
	}
}

// lostPolicy returns a monitor with a folder in the place of its policy, because root can read
// every file.
func lostPolicy(t *testing.T) string {
	return reloaded(t, "directory", func(file string) {
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
	})
}

// spoiltPolicy returns a monitor whose policy has a mistake.
func spoiltPolicy(t *testing.T) string {
	return reloaded(t, "profil", func(file string) { put(t, file, "version: 1\nprofil: strict\n") })
}

// reloaded returns a monitor whose policy forbids the call, and whose file was then damaged: the
// old policy stays, and status says what is wrong with the new one.
func reloaded(t *testing.T, wrong string, spoil func(file string)) string {
	dir := folder(t)
	paths := config.DirPaths(dir)
	put(t, paths.Policy, "version: 1\ntoolOverrides: {exec: {\"*\": restrict}, Bash: {\"*\": restrict}, bash: {\"*\": restrict}}\n")
	r := serve(t, dir, "")
	spoil(paths.Policy)
	until := patience(t)
	for !strings.Contains(r.out.String(), "the new policy is refused, the old one stays") {
		if time.Now().After(until) {
			t.Fatalf("nobody says that the new policy is refused:\n%s", r.out)
		}
		time.Sleep(time.Second)
		_ = os.Chtimes(paths.Policy, time.Now(), time.Now()) // a change before the file was watched is noticed with the next change
	}
	if out, _ := runCommand(t, "status", "--dir", dir); !strings.Contains(out, wrong) {
		t.Errorf("status does not say what is wrong with the new policy:\n%s", out)
	}
	return r.paths.HookSocket
}
