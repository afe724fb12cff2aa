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

// A running is the note that a daemon writes to a file while it runs. If the file is there when a
// daemon starts, the last daemon did not end by itself.
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
	_ = json.Unmarshal(data, &r) // a damaged note also says that the daemon did not end by itself
	return r, true, nil
}

// incident returns the incident to record for a note that was found. If the machine restarted since,
// the monitor need not have been killed.
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

// writeRunning writes the note.
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

// bootID returns the id of the machine's run since it started; empty if the system has none.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// place names a process for people.
func place(pid int) string { return "process " + strconv.Itoa(pid) }
