package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A running is the note a daemon leaves while it runs. Found at a start, it says that the last
// daemon did not end by itself.
type running struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Boot    string    `json:"boot,omitempty"`
}

// readRunning returns the note of a daemon that did not end by itself.
func readRunning(file string) (running, bool, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return running{}, false, nil
	}
	if err != nil {
		return running{}, false, fmt.Errorf("read the note of the last run: %w", err)
	}
	var r running
	_ = json.Unmarshal(data, &r) // a damaged note says as much
	return r, true, nil
}

// incident words what the note means. After a restart of the machine the monitor need not have been
// killed.
func (r running) incident(boot string) (kind, text string) {
	when := "at an unknown time"
	if !r.Started.IsZero() {
		when = r.Started.UTC().Format(time.RFC3339)
	}
	if r.Boot != "" && boot != "" && r.Boot != boot {
		return "machine-stopped", "the machine stopped while the monitor, started " + when + ", was running"
	}
	return "monitor-killed", "the monitor started " + when + " was ended by force: what agents did until now was not seen"
}

// writeRunning leaves the note.
func writeRunning(file string, now time.Time, boot string) error {
	data, err := json.Marshal(running{PID: os.Getpid(), Started: now, Boot: boot})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("leave a note of this run: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("leave a note of this run: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("leave a note of this run: %w", err)
	}
	return nil
}

// bootID names this run of the machine; empty where the system does not say.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// place names a process for people.
func place(pid int) string { return "process " + strconv.Itoa(pid) }
