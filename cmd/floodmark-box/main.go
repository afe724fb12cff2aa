// Command floodmark-box runs one command in a box: see internal/box. It takes the rules of the box
// only from a ticket that the monitor wrote: see internal/box/boxticket.
//
//	floodmark-box --ticket NAME -- COMMAND [ARGUMENT…]
//
// It ends as the command does, with its exit code or its signal. Exit code 125 means that nothing
// has run.
// has run.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/box/boxwrites"
)

func main() {
	if box.Inside() {
		box.Enter()
	}
	runtime.GOMAXPROCS(1) // it mostly waits; more threads would only search for work
	if args := os.Args[1:]; len(args) == 1 && slices.Contains([]string{"--help", "-help", "-h", "help"}, args[0]) {
		fmt.Print(help)
		return
	}
	status, err := run(os.Args[1:])
	if errors.Is(err, box.ErrFull) {
		fmt.Fprintln(os.Stderr, "floodmark-box:", err)
		os.Exit(killed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floodmark-box: nothing ran:", err)
		os.Exit(box.Refused)
	}
	box.EndAs(status)
}

const help = `floodmark-box runs one command in a box: it sees the system and one project, has no
network and none of your secrets, and writes to a copy of that project.
It is not called by hand: Floodmark's monitor lets an agent run it in place of a command,
with a ticket that is valid once: floodmark-box --ticket NAME -- COMMAND [ARGUMENT…]
«floodmark prove --box» tries whether boxes hold on this machine; docs/guide/box.md says more.
`

// arguments returns the ticket's name and the command.
func arguments(args []string) (name string, command []string, err error) {
	const before = 3 // --ticket NAME --
	if len(args) <= before || args[0] != "--ticket" || args[2] != "--" {
		return "", nil, errors.New("usage: floodmark-box --ticket NAME -- COMMAND [ARGUMENT…]")
	}
	return args[1], args[before:], nil
}

// killed is the exit code of a command that was ended by force.
const killed = 137

// codexOffline is the variable by which Codex tells commands that they cannot open sockets in its
// sandbox. An agent that sets it can only take rights away from the box.
const codexOffline = "CODEX_SANDBOX_NETWORK_DISABLED"

func run(args []string) (status syscall.WaitStatus, err error) {
	name, command, err := arguments(args)
	if err != nil {
		return status, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return status, err
	}
	walls := box.Begin()
	defer walls.End()
	uid := os.Getuid()
	r, err := boxticket.Redeem(boxticket.Folder(uid), uid, name, command, time.Now())
	if err != nil {
		return status, err
	}
	defer r.Close()
	defer tidy(r.Spec)
	if err := resume(r); err != nil {
		return status, errors.Join(err, r.Report(boxticket.Outcome{Stage: boxticket.StageRefused, Why: err.Error()}))
	}
	if os.Getenv(codexOffline) != "" {
		r.Spec.NoNetwork = true // inside Codex's sandbox a loopback device cannot be brought up
	}
	if err := r.Spec.Writes().Begin(); err != nil {
		return status, errors.Join(err, r.Report(boxticket.Outcome{Stage: boxticket.StageRefused, Why: err.Error()}))
	}
	end, err := walls.Run(r.Spec, command, os.Environ(), dir)
	if errors.Is(err, box.ErrFull) {
		o := boxticket.Outcome{Stage: boxticket.StageEnded, Signal: int(syscall.SIGKILL), Unmoved: err.Error()}
		return status, errors.Join(err, r.Report(o))
	}
	if err != nil {
		return status, errors.Join(err, r.Report(boxticket.Outcome{Stage: boxticket.StageRefused, Why: err.Error()}))
	}
	o := finish(r, end)
	for _, line := range advice(&o, r.Spec, command, os.Environ(), dir) {
		fmt.Fprintln(os.Stderr, "floodmark-box:", line)
	}
	return end.Status, nil
}

// resume finishes moving in what earlier boxes of the project wrote, if they were killed. In an
// agent's sandbox, other commands can also write beside its tickets. So what is there is finished
// only inside that sandbox, with no more rights than those commands have. If the box's folder
// exists already, one of those commands made it, and resume fails.
func resume(r *boxticket.Redeemed) error {
	lock, err := r.Lock(r.Spec.Project)
	if err != nil {
		return err
	}
	defer lock.Close()
	if r.Beside() {
		if err := os.Mkdir(r.Spec.Folder, 0o700); err != nil {
			return err
		}
		if os.Getenv(codexOffline) == "" {
			return nil
		}
	}
	if err := r.Spec.Writes().Resume(); err != nil {
		return err
	}
	return boxwrites.ResumeBeside(r.Spec.Folder, r.Spec.Project)
}

// tidy removes the box's own folder, unless the folder contains what was replaced in the project.
func tidy(s *box.Spec) {
	_ = s.Clear()
	s.Writes().Forget()
	_ = os.Remove(s.Folder) // it fails if other boxes use the folder
}

// finish moves what the command wrote into the project and reports what it did. The list of changes
// is on disk before the first change is made, so that the monitor knows what may have changed if
// this process is killed.
func finish(r *boxticket.Redeemed, end box.End) boxticket.Outcome {
	o := boxticket.Outcome{Stage: boxticket.StageMoving, Hosts: end.Hosts, Left: end.Left}
	if end.Status.Signaled() {
		o.Signal = int(end.Status.Signal())
	} else {
		o.Exit = end.Status.ExitStatus()
	}
	if r.Spec.Whole && len(o.Hosts) > 0 && (o.Exit != 0 || o.Signal != 0) {
		o.Unmoved = "it failed for want of a network, and can be made again as if it had not run"
	} else if !r.Spec.ReadOnly {
		if err := moveIn(r, &o); err != nil {
			o.Unmoved = err.Error()
		}
	}
	o.Stage = boxticket.StageEnded
	if err := r.Report(o); err != nil {
		fmt.Fprintln(os.Stderr, "floodmark-box:", err)
	}
	return o
}

// moveIn finds and makes the changes to the project, under the project's lock.
func moveIn(r *boxticket.Redeemed, o *boxticket.Outcome) error {
	lock, err := r.Lock(r.Spec.Project)
	if err != nil {
		return err
	}
	defer lock.Close()
	wrote := r.Spec.Writes()
	wrote.Starts, wrote.Loads = folders(os.Getenv("PATH")), folders(os.Getenv("VIRTUAL_ENV"))
	changes, err := wrote.Changes()
	if err != nil || len(changes) == 0 {
		return err
	}
	if err := r.Keep(); err != nil {
		return err
	}
	wrote.Digest(changes)
	for _, c := range changes {
		o.Changes = append(o.Changes, boxticket.Change{Path: c.Path, Kind: string(c.Kind), SHA256: c.SHA256, Refused: c.Refused})
	}
	if err := r.Report(*o); err != nil {
		return err
	}
	if err := wrote.MoveIn(changes); err != nil {
		return err
	}
	if r.Beside() && r.Spec.Undo > 0 {
		o.Kept, _ = wrote.Swap().Seal() // what cannot be sealed is not undone
	}
	return nil
}

// folders returns the folders in a list such as PATH, as full paths. A folder that links lead
// elsewhere is also returned with its links resolved.
func folders(list string) (all []string) {
	for _, f := range filepath.SplitList(list) {
		f, err := filepath.Abs(f) // an empty entry means the current folder
		if err != nil {
			continue
		}
		all = append(all, f)
		if there, err := filepath.EvalSymlinks(f); err == nil && there != f {
			all = append(all, there)
		}
	}
	return all
}
