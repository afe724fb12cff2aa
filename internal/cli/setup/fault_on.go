//go:build faults

package setup

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// fault ends the process, as a power cut would, when a named point was passed so many times:
// FLOODMARK_FAULT=in-commit:7. With a duration added, in-commit:7:2s, each pass from then on takes
// that long, as on a slow disk. The name is first added to the file FLOODMARK_FAULT_FILE, so that
// the test knows where it ended. Only tests build with it.
func fault() func(string) {
	parts := strings.Split(os.Getenv("FLOODMARK_FAULT")+"::", ":")
	point, pause := parts[0], parts[2]
	from, err := strconv.ParseInt(parts[1], 10, 64)
	if point == "" || err != nil {
		return nil
	}
	slow, _ := time.ParseDuration(pause)
	var passed atomic.Int64
	return func(at string) {
		switch {
		case at != point:
		case slow > 0:
			if passed.Add(1) >= from {
				time.Sleep(slow)
			}
		case passed.Add(1) == from:
			tellFault(at)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// tellFault leaves the name of the point; the page cache outlives the process.
func tellFault(at string) {
	f, err := os.OpenFile(os.Getenv("FLOODMARK_FAULT_FILE"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(at + "\n")
	_ = f.Close()
}

// faultLogBytes lets a short run see SQLite's log moved often.
func faultLogBytes() int {
	n, _ := strconv.Atoi(os.Getenv("FLOODMARK_FAULT_LOG_BYTES"))
	return n
}

// fleetEvery lets a short run contact a fleet often.
func fleetEvery() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FLOODMARK_FAULT_FLEET_EVERY"))
	return d
}

// clock is the machine's, set forward or back by the duration in the file FLOODMARK_FAULT_CLOCK,
// which is read again each time.
func clock() func() time.Time {
	file := os.Getenv("FLOODMARK_FAULT_CLOCK")
	if file == "" {
		return time.Now
	}
	var offset, looked atomic.Int64
	return func() time.Time {
		now := time.Now()
		if last := looked.Load(); now.UnixNano()-last > int64(50*time.Millisecond) && looked.CompareAndSwap(last, now.UnixNano()) {
			data, _ := os.ReadFile(file) // without one the clock is right
			set, _ := time.ParseDuration(strings.TrimSpace(string(data)))
			offset.Store(int64(set))
		}
		return now.Add(time.Duration(offset.Load()))
	}
}

// Vitals writes every five seconds how many goroutines there are and how many bytes of the heap are
// in use after a collection, to the file FLOODMARK_VITALS, which is replaced as a whole. It runs as
// long as the process.
func Vitals() {
	file := os.Getenv("FLOODMARK_VITALS")
	if file == "" {
		return
	}
	go func() {
		for {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			text := fmt.Sprintf("{\"goroutines\":%d,\"heap\":%d}\n", runtime.NumGoroutine(), m.HeapAlloc)
			if os.WriteFile(file+".new", []byte(text), 0o600) == nil {
				_ = os.Rename(file+".new", file) // the next one is written in five seconds
			}
			time.Sleep(5 * time.Second)
		}
	}()
}
