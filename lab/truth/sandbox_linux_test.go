package truth

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The environment in which a line runs.
const (
	home    = "/home/dev"
	project = home + "/project"
	devUID  = 61077
	strace  = "/usr/bin/strace"
)

// Limits of one line. What a line did until it reached a limit is observed all the same.
const (
	lineTime      = 4 * time.Second
	lineOutput    = 1 << 20
	lineProcesses = 200
	lineFileBytes = 32 << 20
	scratchSize   = "size=128m"
	traceBytes    = 32 << 20
)

// workerVariable is the environment variable that makes this program run [work].
const workerVariable = "FLOODMARK_SHELL_WORKER"

type (
	// A request is one line to run.
	request struct {
		Line    string
		Timeout time.Duration
	}
	// An answer is what a line did, or why it could not be run.
	answer struct {
		Trace    string
		Output   string
		Exit     int
		TimedOut bool
		Error    string
	}
)

// A worker is a process in new namespaces that runs lines one after the other, each in a fresh
// home.
type worker struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
	end io.Closer
}

// startWorker starts this program again as a worker.
func startWorker() (*worker, error) {
	root, err := os.MkdirTemp("", "fmtruth")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{workerVariable + "=" + root, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker in its own namespaces (this needs root): %w", err)
	}
	w := &worker{cmd: cmd, in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReaderSize(out, 1<<20)), end: in}
	// The first answer says whether the worker could prepare its root.
	var ready answer
	if err := w.out.Decode(&ready); err != nil || ready.Error != "" {
		return nil, errors.Join(fmt.Errorf("prepare a worker: %s", ready.Error), err, w.close())
	}
	return w, nil
}

// run lets the worker run a line and returns its answer.
func (w *worker) run(line string, timeout time.Duration) (answer, error) {
	var a answer
	if err := w.in.Encode(request{Line: line, Timeout: timeout}); err != nil {
		return a, fmt.Errorf("send a line to its worker: %w", err)
	}
	if err := w.out.Decode(&a); err != nil {
		return a, fmt.Errorf("the worker ended at line %q: %w", line, err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("run %q: %s", line, a.Error)
	}
	return a, nil
}

// close ends the worker and everything it still runs.
func (w *worker) close() error {
	_ = w.end.Close()
	err := w.cmd.Wait()
	_ = os.Remove(strings.TrimPrefix(w.cmd.Env[0], workerVariable+"="))
	return err
}

// work is the worker's process. It builds the root and then runs the requested lines.
func work(root string) int {
	out := json.NewEncoder(os.Stdout)
	if err := enterRoot(root); err != nil {
		_ = out.Encode(answer{Error: err.Error()})
		return 1
	}
	_ = out.Encode(answer{})
	in := json.NewDecoder(os.Stdin)
	for {
		var r request
		if in.Decode(&r) != nil {
			return 0
		}
		a, err := runLine(r)
		if err != nil {
			a.Error = err.Error()
		}
		if out.Encode(a) != nil {
			return 1
		}
	}
}

// traced are the calls that show what a line does.
const traced = "open,openat,openat2,creat,truncate,ftruncate,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,symlinkat," +
	"mkdir,mkdirat,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utimensat,execve,execveat,clone,clone3,fork,vfork," +
	"chdir,fchdir,connect,sendto,sendmsg,sendmmsg,bind,kill,tgkill,tkill,pidfd_send_signal,mount,umount2,setxattr,lsetxattr,ptrace,unshare,setns"

// runLine runs one line in a fresh home.
func runLine(r request) (answer, error) {
	if err := freshHome(); err != nil {
		return answer{}, err
	}
	defer dropHome()
	var a answer
	cmd := exec.Command(strace, "-f", "-qq", "-y", "-s", "4000", "--seccomp-bpf", "-e", "signal=none",
		"-e", "trace="+traced, "-u", "dev", "-o", "/.trace/out", "/bin/bash", "-c", r.Line)
	cmd.Dir = project
	cmd.Env = lineEnvironment()
	read, write, err := os.Pipe()
	if err != nil {
		return a, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		return a, errors.Join(fmt.Errorf("start strace: %w", err), read.Close(), write.Close())
	}
	_ = write.Close()
	text := make(chan string, 1)
	go func() { text <- drain(read) }()
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	select {
	case <-end:
	case <-time.After(r.Timeout):
		a.TimedOut = true
		killAll()
		<-end
	}
	killAll()
	a.Output = <-text
	_ = read.Close()
	reap()
	a.Exit = cmd.ProcessState.ExitCode()
	trace, err := os.Open("/.trace/out")
	if err != nil {
		return a, fmt.Errorf("read the trace: %w", err)
	}
	defer func() { _ = trace.Close() }()
	all, err := io.ReadAll(io.LimitReader(trace, traceBytes))
	a.Trace = string(all)
	return a, err
}

// drain returns the beginning of what a line prints, and kills a line that prints more than
// lineOutput.
func drain(from io.Reader) string {
	var kept strings.Builder
	buffer := make([]byte, 32<<10)
	for total := 0; ; {
		n, err := from.Read(buffer)
		kept.Write(buffer[:min(n, max(0, 4000-kept.Len()))])
		if total += n; total > lineOutput {
			killAll()
		}
		if err != nil {
			return kept.String()
		}
	}
}

// killAll kills every process of the namespace except this one, which is its first.
func killAll() { _ = syscall.Kill(-1, syscall.SIGKILL) }

// reap waits until no child is left. Orphans of the namespace are children of this process.
func reap() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

func lineEnvironment() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin:/opt/stubs/bin", "HOME=" + home, "USER=dev", "LOGNAME=dev",
		"SHELL=/bin/bash", "LC_ALL=C", "TERM=dumb", "PWD=" + project, "GIT_OPTIONAL_LOCKS=0", "PYTHONDONTWRITEBYTECODE=1",
		"GITHUB_TOKEN=ghp_exampleexampleexampleexampleexample00", "AWS_SECRET_ACCESS_KEY=example/example/example/example/example0",
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "NO_UPDATE_NOTIFIER=1", "npm_config_update_notifier=false",
		"npm_config_fetch_retries=0", "PIP_RETRIES=0", "PIP_DEFAULT_TIMEOUT=1", "FILTER_BRANCH_SQUELCH_WARNING=1",
	}
}

// freshHome mounts a new home: an empty writable layer over the template.
func freshHome() error {
	if err := syscall.Mount("tmpfs", "/.scratch", "tmpfs", syscall.MS_NOSUID, scratchSize); err != nil {
		return fmt.Errorf("mount scratch: %w", err)
	}
	for _, dir := range []string{"up", "work"} {
		if err := os.Mkdir(filepath.Join("/.scratch", dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chown("/.scratch/up", devUID, devUID); err != nil {
		return err
	}
	layers := "lowerdir=/.trace/template,upperdir=/.scratch/up,workdir=/.scratch/work"
	if err := syscall.Mount("overlay", home, "overlay", syscall.MS_NOSUID, layers); err != nil {
		return fmt.Errorf("lay a fresh home: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/tmp", "tmpfs", syscall.MS_NOSUID, scratchSize+",mode=1777"); err != nil {
		return fmt.Errorf("mount /tmp: %w", err)
	}
	return nil
}

func dropHome() {
	for _, at := range []string{"/tmp", home, "/.scratch"} {
		_ = syscall.Unmount(at, syscall.MNT_DETACH)
	}
}
