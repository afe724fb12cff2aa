//go:build faults

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// fault ends the process, as a power cut would, when a named point was passed
// so many times: FLOODMARK_FAULT=in-commit:7. Only tests build with it.
func fault() func(string) {
	point, times, _ := strings.Cut(os.Getenv("FLOODMARK_FAULT"), ":")
	left, err := strconv.Atoi(times)
	if point == "" || err != nil {
		return nil
	}
	var passed atomic.Int64
	return func(at string) {
		if at == point && passed.Add(1) == int64(left) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}
