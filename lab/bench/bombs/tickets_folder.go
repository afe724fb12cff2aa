package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// watch returns the names of files that appear in a folder, until stop is called.
func watch(folder string) (names <-chan string, stop func(), err error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	if _, err := syscall.InotifyAddWatch(fd, folder, syscall.IN_CREATE|syscall.IN_MOVED_TO); err != nil {
		_ = syscall.Close(fd)
		return nil, nil, err
	}
	file := os.NewFile(uintptr(fd), "inotify") // reading blocks until there is an event, and ends when it is closed
	out := make(chan string, 4096)
	go func() {
		defer close(out)
		buffer := make([]byte, 1<<16)
		for {
			n, err := file.Read(buffer)
			if err != nil {
				return
			}
			for rest := buffer[:n]; len(rest) >= syscall.SizeofInotifyEvent; {
				length := int(uint32(rest[12]) | uint32(rest[13])<<8)
				name := rest[syscall.SizeofInotifyEvent : syscall.SizeofInotifyEvent+length]
				rest = rest[syscall.SizeofInotifyEvent+length:]
				select {
				case out <- string(bytes.TrimRight(name, "\x00")):
				default: // the channel is full, because the receiver has stopped
				}
			}
		}
	}()
	return out, func() { _ = file.Close() }, nil
}

// A desk is the folder of tickets as a process of the same user sees it.
type desk struct{ path string }

// ticketFor waits for a ticket for a project and returns its name.
func (d desk) ticketFor(names <-chan string, project string, within time.Duration) string {
	end := time.After(within)
	for {
		select {
		case name := <-names:
			data, _ := os.ReadFile(filepath.Join(d.path, name)) // it may have been taken already
			if own, is := strings.CutSuffix(name, ".ticket"); is && bytes.Contains(data, []byte(`"`+project+`"`)) {
				return own
			}
		case <-end:
			return ""
		}
	}
}

// boxOf finds the process that took a ticket for a command, and the ticket's name.
func boxOf(command string) (pid int, ticket string) {
	for _, p := range processes() {
		if len(p.argv) > 4 && filepath.Base(p.argv[0]) == "floodmark-box" && p.argv[1] == "--ticket" && p.argv[len(p.argv)-1] == command {
			return p.pid, p.argv[2]
		}
	}
	return 0, ""
}

// takenFor waits until a box has taken the ticket for a command.
func takenFor(names <-chan string, command string, within time.Duration) (pid int, ticket string) {
	end := time.After(within)
	for {
		select {
		case name := <-names:
			if !strings.HasSuffix(name, ".taken") {
				continue
			}
			if pid, ticket := boxOf(command); ticket == strings.TrimSuffix(name, ".taken") && pid != 0 {
				return pid, ticket
			}
		case <-end:
			return 0, ""
		}
	}
}

// appears waits for a file.
func appears(names <-chan string, want string, within time.Duration) bool {
	end := time.After(within)
	for {
		select {
		case name := <-names:
			if name == want {
				return true
			}
		case <-end:
			return false
		}
	}
}
