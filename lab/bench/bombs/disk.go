package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// diskFull fills the disk that holds the monitor's store and the project, and has each agent make
// its call.
func (r *rig) diskFull(ctx context.Context, match *regexp.Regexp) error {
	for _, a := range r.agents {
		c := cell{a.name, "monitor", "disk full", asked}
		if !match.MatchString(c.name()) || !r.o.disk || r.o.small || time.Since(r.began) > r.o.within {
			continue
		}
		file := filepath.Join(r.o.home, "fill")
		p := r.newPlay(a, "project")
		filled := false
		p.arm = func() { filled = fill(file) == nil }
		o, err := p.play(ctx)
		o.applied = filled
		err = errors.Join(err, os.Remove(file))
		r.report.add(c, o, "")
		fmt.Printf("     %s: happened %v, boxed %v, outside %v%s, %.1f s, %v\n", c.name(), o.applied, o.boxed, o.outside, o.how, o.seconds, err)
		if err := r.monitor(); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a file until the disk is full.
func fill(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := int64(1 << 26); size >= 1<<10; {
		at, err := f.Seek(0, 2)
		if err != nil {
			return err
		}
		if err := syscall.Fallocate(int(f.Fd()), 0, at, size); err != nil {
			size /= 2
			continue
		}
	}
	return nil
}
