package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

var (
	teeTo = flag.String("tee", "", "be a server that starts another one, named by the arguments, and write what that one is told to this file")
	pages = flag.Bool("pages", false, "be a server with small pages instead")
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	switch {
	case *teeTo != "":
		err = tee(*teeTo, flag.Args())
	case *pages:
		err = servePages()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tee runs a server and records what it receives, one message on each line. It ends with its own
// input, because a server's timers may keep the server running longer.
func tee(file string, command []string) error {
	log, err := os.Create(file)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the child dies with this thread
	cmd := exec.Command(command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for err == nil {
		var line []byte
		if line, err = lines.ReadBytes('\n'); err == nil {
			_, err = log.Write(line) // before the server can answer
		}
		if err == nil {
			_, err = in.Write(line)
		}
	}
	_ = in.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, log.Close())
}

// teed returns a command whose input is recorded in a file.
func teed(t *testing.T, file string, command []string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, "-tee", file, "--"}, command...)
}

// A record is one conversation, with what its server received.
type record struct {
	*talk
	file string

	mu   sync.Mutex // guards what is below
	read int        // how much of the file was read
}

// told returns what the server has received since the last call.
func (r *record) told() []map[string]any {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := os.ReadFile(r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	data = data[r.read:]
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the rest is still being written
	r.read += len(data)
	var list []map[string]any
	for line := range bytes.Lines(data) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			r.t.Fatalf("no message: %.200s", line)
		}
		list = append(list, m)
	}
	return list
}
