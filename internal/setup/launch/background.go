package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// A Background is a monitor that runs as a process of its own, without a terminal, and
// outlives the program that started it.
type Background struct {
	// Program and Words are its command line. Log is the file that receives its output.
	Program string
	Words   []string
	Log     string
}

// How often to look whether a monitor answers or has ended, and how much of its log to show.
const (
	lookEvery = 20 * time.Millisecond
	lastBytes = 4 << 10
	maxWords  = 500
)

// ErrEnded means that the monitor ended before it answered.
var ErrEnded = errors.New("it ended at once")

// ErrStranger means that what listens at a socket is not a monitor of this user.
var ErrStranger = errors.New("the process that listens there is not your monitor")

// Start starts it and waits until ready reports that it answers. If ctx ends first, the process is
// killed.
func (b Background) Start(ctx context.Context, ready func(context.Context) bool) error {
	if err := os.MkdirAll(filepath.Dir(b.Log), 0o700); err != nil {
		return err
	}
	if err := os.Rename(b.Log, b.Log+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(b.Log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), b.Program, b.Words...) //nolint:gosec // our own words
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.SysProcAttr = log, log, "/", apart()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return fmt.Errorf("%w: %s", ErrEnded, lastWords(b.Log))
		case <-ctx.Done():
			_ = cmd.Process.Kill() // it may have ended meanwhile
			<-ended
			return fmt.Errorf("it did not answer in time: %s", lastWords(b.Log))
		case <-tick.C:
			if ready(ctx) {
				return nil
			}
		}
	}
}

// lastWords returns the end of a log on one line: from the last line in which the program says why
// it ended, or else only the last line.
func lastWords(file string) string {
	text, err := Tail(file, lastBytes)
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return "it said nothing"
	}
	from := strings.LastIndex("\n"+text, "\nfloodmark: ")
	if from < 0 {
		from = strings.LastIndex(text, "\n") + 1
	}
	return floodmark.OneLine(strings.TrimPrefix(text[from:], "floodmark: "), maxWords)
}

// Tail reads the end of a file: whole lines, at most so many bytes.
func Tail(file string, most int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-most)
	data, err := io.ReadAll(io.NewSectionReader(f, from, most))
	text := string(data)
	if _, rest, cut := strings.Cut(text, "\n"); cut && from > 0 {
		text = rest
	}
	return text, err
}

// Stop ends the monitor that listens at a socket, and waits until it is gone. It returns false if
// none listens. The system names the process that listens; a number read from a file could be
// another process's by now.
func Stop(ctx context.Context, socket string) (bool, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false, nil // no process listens
	}
	pid, user, err := peer.Of(conn)
	_ = conn.Close() // it was opened to learn who listens
	if err != nil {
		return false, err
	}
	info, err := peer.System{}.Look(pid)
	if err != nil {
		return false, err
	}
	if user != os.Getuid() || pid == os.Getpid() || !strings.HasPrefix(info.Name, "floodmark") {
		return false, fmt.Errorf("%w (process %d)", ErrStranger, pid)
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(terminate())
	}
	if err != nil {
		return false, err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil && ctx.Err() == nil {
			return true, nil
		}
		if err == nil {
			_ = conn.Close() // it is still there
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("process %d did not end in time", pid)
		case <-tick.C:
		}
	}
}
