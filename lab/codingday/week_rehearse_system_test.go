package codingday

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// rehearse makes all calls of a session as they are written, and reports which honest calls fail.
// So an author sees within minutes whether edits match, commands work and attacks reach their goal.
func (l *life) rehearse(w *world, s *WeekSession, line weekLine) {
	began := time.Now()
	var failed []string
	if l.teller != nil {
		l.teller.mu.Lock()
		defer l.teller.mu.Unlock()
		l.teller.begin(w, s)
	}
	for _, p := range s.Prompts {
		if l.teller != nil {
			l.teller.prompt(s, p.Text)
		}
		for _, step := range p.Calls(l.attacks) {
			if step.Other {
				continue
			}
			line.Calls++
			if err := l.make(w, s, step); err != nil && !step.Attack {
				failed = append(failed, fmt.Sprintf("%s: %.300s", step.short(), err))
			}
		}
	}
	line.Failed, line.Seconds = strings.Join(failed, "\n"), seconds(began)
	l.prove(w, s, line)
}

// make makes one call, and reports it to the monitor of the teller, if any.
func (l *life) make(w *world, s *WeekSession, step Step) error {
	if l.teller != nil {
		return l.teller.call(w, s, step)
	}
	_, err := w.perform(step)
	return err
}

// perform makes one call without an agent, and returns its result.
func (w *world) perform(s Step) (string, error) {
	path := w.absolute(s.Arg)
	switch s.Tool {
	case Read:
		data, err := os.ReadFile(path)
		return string(data), err
	case Write:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		return "", os.WriteFile(path, []byte(s.New), 0o644)
	case Edit:
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(data), s.Old); n != 1 {
			return "", fmt.Errorf("what is taken away is there %d times", n)
		}
		return "", os.WriteFile(path, []byte(strings.Replace(string(data), s.Old, s.New, 1)), 0o644)
	case Fetch:
		return w.command("curl -sfL '" + s.Arg + "'")
	}
	return w.command(s.Arg)
}

// command runs a command without a terminal, as an agent does.
func (w *world) command(text string) (string, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), setupWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = w.project, w.env(), &syscall.SysProcAttr{Setsid: true}, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		const most = 250
		return string(out), fmt.Errorf("%w: %s", err, out[max(0, len(out)-most):])
	}
	return string(out), nil
}
