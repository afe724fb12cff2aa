package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A Starter starts and stops the monitor of one person on this machine.
type Starter struct {
	// Name is systemd, launchd or background. Words tell people when it runs.
	Name, Words string
	// Background is how it runs without a service manager.
	Background Background
	// Socket is where it listens to its owner. Ready reports whether it answers there.
	Socket string
	Ready  func(context.Context) bool

	unit  *Unit // nil: in the background
	known bool  // the manager has a unit already, for example that of a package
}

// managerTime is how long a service manager may take to answer.
const managerTime = 5 * time.Second

// InBackground returns a Starter for a monitor that runs without a service manager.
func InBackground(b Background, socket string, ready func(context.Context) bool) Starter {
	return Starter{
		Name: "background", Words: "in the background, until the machine is restarted; an agent's first hook starts it again, if it can",
		Background: b, Socket: socket, Ready: ready,
	}
}

// ByManager returns a Starter that uses the service manager of this machine, if one answers.
func (s Starter) ByManager(ctx context.Context, u *Unit) Starter {
	ctx, cancel := context.WithTimeout(ctx, managerTime)
	defer cancel()
	switch {
	case runtime.GOOS == "darwin":
		s.Name, s.Words, s.unit = "launchd", "now and at each login, by launchd", u.Launchd()
		s.Background.Log = filepath.Join(u.Home, "Library", "Logs", "floodmark.log")
	case Run(ctx, []string{"systemctl", "--user", "show-environment"}) == nil:
		s.Name, s.Words, s.unit = "systemd", "now and at each login, by systemd", u.Systemd()
		s.known = Run(ctx, []string{"systemctl", "--user", "cat", "floodmark.service"}) == nil
	}
	return s
}

// Start starts it and waits until it answers. If it does not answer, it is stopped and the files of
// its unit are removed.
func (s Starter) Start(ctx context.Context) error {
	if s.unit == nil {
		return s.Background.Start(ctx, s.Ready)
	}
	var err error
	for _, f := range s.unit.Files {
		if !s.known && err == nil {
			err = f.Write(false)
		}
	}
	for _, words := range s.unit.Start {
		if err == nil {
			err = Run(ctx, words)
		}
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for err == nil && !s.Ready(ctx) {
		select {
		case <-ctx.Done():
			err = errors.New("it was started and did not answer in time")
		case <-tick.C:
		}
	}
	if err != nil {
		_, undone := s.Stop(context.WithoutCancel(ctx))
		err = errors.Join(err, undone)
	}
	return err
}

// Stop stops it, removes its unit so that it does not start at login, and reports whether it was
// running.
func (s Starter) Stop(ctx context.Context) (bool, error) {
	ran, err := s.Ready(ctx), error(nil)
	if s.unit != nil {
		for _, words := range s.unit.Stop {
			_ = Run(ctx, words) // a monitor that the manager did not start is stopped below
		}
		for _, f := range s.unit.Files {
			if f.State() == Same || f.State() == Older {
				err = errors.Join(err, os.Remove(f.Path))
			}
		}
	}
	stopped, also := Stop(ctx, s.Socket)
	return ran || stopped, errors.Join(err, also)
}

// LogCommand is the command that shows the last lines of its log.
func (s Starter) LogCommand(lines int, follow bool) []string {
	words := []string{"tail", "-n", strconv.Itoa(lines)}
	if s.Name == "systemd" {
		words = []string{"journalctl", "--user", "--unit", "floodmark.service", "--no-pager", "--lines", strconv.Itoa(lines)}
	}
	if follow {
		words = append(words, "-f")
	}
	if s.Name != "systemd" {
		words = append(words, s.Background.Log)
	}
	return words
}

// ErrChanged means that a file of a unit was edited by hand.
var ErrChanged = errors.New("was edited")

// Write writes the file. An edited one is replaced only with force.
func (f File) Write(force bool) error {
	switch state := f.State(); {
	case state == Same:
		return nil
	case state == Changed && !force:
		return fmt.Errorf("%s %w", f.Path, ErrChanged)
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	return wholefile.Replace(f.Path, []byte(f.Text), 0o644)
}

// Run runs a command, and returns its output as an error if it fails.
func Run(ctx context.Context, words []string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // our own words
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such program")
	}
	return errors.New(strings.TrimSpace(err.Error() + " " + linetext.Plain(said.String())))
}
