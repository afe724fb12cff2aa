package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is a process of this machine, which only runs our processes.
type process struct {
	pid, parent int
	argv        []string
}

// processes lists the running processes.
func processes() (all []process) {
	entries, _ := os.ReadDir("/proc") // it is always there
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // it may be gone
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, found := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(line) == 0 || !found || len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1]) // the kernel writes a number here
		all = append(all, process{pid, parent, strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")})
	}
	return all
}

// is reports whether a process was started as this program with this word among its arguments.
func (p process) is(program, word string) bool {
	return filepath.Base(p.argv[0]) == program && slices.Contains(p.argv, word)
}

// below returns a process and all its descendants.
func below(root int) (list []process) {
	all := processes()
	in := map[int]bool{root: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !in[p.pid] && in[p.parent] {
				in[p.pid], grew = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(p process) bool { return !in[p.pid] })
}

// pids returns the numbers of the processes that match.
func pids(from []process, fits func(process) bool) (list []int) {
	for _, p := range from {
		if fits(p) {
			list = append(list, p.pid)
		}
	}
	return list
}

// send sends a signal to processes that this program found on its own machine.
func send(list []int, s syscall.Signal) {
	for _, pid := range list {
		if pid > 1 {
			_ = syscall.Kill(pid, s) // it may be gone
		}
	}
}

// soon calls look until it returns true, for at most that long.
func soon(within time.Duration, look func() bool) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		if look() {
			return true
		}
	}
	return false
}

func monitors() []int {
	return pids(processes(), func(p process) bool { return p.is("floodmark", "serve") })
}
