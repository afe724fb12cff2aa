package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

// cold measures the first calls of accounts that never had a monitor, so each call has to start
// one. The hook only starts a monitor for the account's real home, so each call runs in a namespace
// in which that home is another folder.
func cold(ctx context.Context, o options, programs, dir string) (list []float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for n := range o.colds {
		home := filepath.Join(dir, "c"+strconv.Itoa(n))
		users := filepath.Join(dir, "passwd")
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(users, []byte("root:x:0:0:root:"+home+":/bin/sh\n"), 0o644); err != nil { //nolint:gosec // like the system's file
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "unshare", "-rmpf", "--kill-child", "--mount-proc", "sh", "-c",
			`mount --bind "$1" /etc/passwd && shift && exec "$@"`, "-", users, self, "-programs", programs, "-cold", home)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		out, err := cmd.CombinedOutput()
		took, bad := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err = errors.Join(err, bad); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		list = append(list, took)
	}
	return list, nil
}

// coldHere times the first call in this home and prints the milliseconds.
func coldHere(ctx context.Context, programs, home string) error {
	c := caller{hook: filepath.Join(programs, "floodmark-hook"), home: home, env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	took, err := c.ask(ctx, "SessionStart", c.message("SessionStart", map[string]any{"source": "startup"}))
	if err != nil {
		return err
	}
	fmt.Println(figures.MS(took))
	return nil
}
