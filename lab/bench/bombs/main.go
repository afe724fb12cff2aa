// Bombs runs bombs in boxes, breaks the hook, the box, the monitor and the agent at every step of a
// call, and counts the commands that ran outside their box. All programs are real except the model,
// which is scripted.
//
//	.ci/bombs -seed 1
//
// It has to run on a machine of its own, which .ci/bombs makes, because it stops and kills
// processes by name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

type options struct {
	programs, installed, home string
	agents                    string
	cells                     string
	small, disk               bool
	seed                      uint64
	within                    time.Duration
	json, commit, join        string
}

func main() {
	var o options
	flag.StringVar(&o.programs, "programs", "", "the folder of floodmark, floodmark-hook and floodmark-box")
	flag.StringVar(&o.installed, "installed", "", "the folder the agents are installed in")
	flag.StringVar(&o.home, "home", "", "the home of the account, which is filled and emptied")
	flag.StringVar(&o.agents, "agents", "codex,pi,gemini-cli,copilot-cli,opencode", "the agents, with commas between them")
	flag.StringVar(&o.cells, "cells", ".", "run the cells whose name (agent/victim/action/step) matches this `EXPRESSION`")
	flag.BoolVar(&o.small, "small", false, "a few cells only, as the gate does")
	flag.BoolVar(&o.disk, "disk", true, "the home lies on a disk that may be filled")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the order of cells, and which bomb runs beside each")
	flag.DurationVar(&o.within, "within", time.Hour, "begin no cell after this time")
	flag.StringVar(&o.json, "json", "", "write what was seen to this `FILE`")
	flag.StringVar(&o.commit, "commit", "", "the commit that is measured")
	flag.StringVar(&o.join, "join", "", "run nothing: write what these `FILES`, with commas between them, hold to the file of -json")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bombs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.join != "" {
		return join(list(o.join), o.json)
	}
	match, err := regexp.Compile(o.cells)
	if err != nil {
		return err
	}
	if o.programs == "" || o.installed == "" || o.home == "" {
		return errors.New("use .ci/bombs, which makes the machine for it")
	}
	r, err := newRig(ctx, o)
	if err != nil {
		return err
	}
	defer r.end()
	began := time.Now()
	if err := r.install(ctx); err != nil {
		return err
	}
	fmt.Printf("installed and proven, %.0f s\n", time.Since(began).Seconds())
	if err := r.controls(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context, *regexp.Regexp) error{r.faults, r.diskFull, r.bombs, r.tickets} {
		if err := part(ctx, match); err != nil {
			return err
		}
		r.report.Seconds = int(time.Since(began).Seconds())
		if err := r.report.write(o.json); err != nil {
			return err
		}
	}
	return r.report.verdict()
}

// list splits a list at commas.
func list(s string) []string { return strings.Split(s, ",") }
