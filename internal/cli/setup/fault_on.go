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

// fault returns a function that kills the process, like a power cut, when a named point is reached
// for the given time: FLOODMARK_FAULT=in-commit:7. If a duration is added, as in in-commit:7:2s,
// the process is not killed; from that time on each pass takes that long, as on a slow disk. Before
// a kill the point's name is appended to the file FLOODMARK_FAULT_FILE, for the test. Only tests
// build with it.
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

// tellFault appends the name of the point to the file. The page cache keeps it after the kill.
func tellFault(at string) {
	f, err := os.OpenFile(os.Getenv("FLOODMARK_FAULT_FILE"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(at + "\n")
	_ = f.Close()
}

// faultLogBytes returns a limit on SQLite's log that makes a short run check it in often.
func faultLogBytes() int {
	n, _ := strconv.Atoi(os.Getenv("FLOODMARK_FAULT_LOG_BYTES"))
	return n
}

// fleetEvery returns a short time between contacts with a fleet.
func fleetEvery() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FLOODMARK_FAULT_FLEET_EVERY"))
	return d
}

// clock returns the machine's clock, shifted by the duration in the file FLOODMARK_FAULT_CLOCK. The
// file is read again at most every 50 ms.
func clock() func() time.Time {
	file := os.Getenv("FLOODMARK_FAULT_CLOCK")
	if file == "" {
		return time.Now
	}
	var offset, looked atomic.Int64
	return func() time.Time {
		now := time.Now()
		if last := looked.Load(); now.UnixNano()-last > int64(50*time.Millisecond) && looked.CompareAndSwap(last, now.UnixNano()) {
			data, _ := os.ReadFile(file) // if it cannot be read, the clock is not shifted
			set, _ := time.ParseDuration(strings.TrimSpace(string(data)))
			offset.Store(int64(set))
		}
		return now.Add(time.Duration(offset.Load()))
	}
}

// Vitals writes the number of goroutines and the bytes of heap in use after a collection to the
// file FLOODMARK_VITALS, every five seconds. Each time it replaces the whole file. It runs as long
// as the process.
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
				_ = os.Rename(file+".new", file) // after an error the next file is written in five seconds
			}
			time.Sleep(5 * time.Second)
		}
	}()
}
