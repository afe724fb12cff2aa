package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark/internal/protection"
)

// benchReport writes the page about a measurement. The other shipped profiles are
// measured for it on the recorded sets, so that they stand in the same picture.
// A file whose name ends in .svg gets the first picture alone.
func (c *console) benchReport(ctx context.Context, data *protection.Data, res *protection.Result, opt benchOptions) error {
	page := protection.Report{Result: res, At: c.clock(), Version: c.build.Version, Profile: opt.profile}
	var others []protection.Decider
	for _, profile := range profiles() {
		if profile == opt.profile || profile == "dry-run" { // which enforces nothing
			continue
		}
		rules, err := protection.Rules(profile)
		if err != nil {
			return err
		}
		m, err := protection.Monitor("floodmark "+profile, rules)
		if err != nil {
			return err
		}
		others = append(others, m)
	}
	sets := protection.Sets()
	if len(opt.sets) > 0 {
		sets = slices.DeleteFunc(sets, func(s protection.Set) bool { return !slices.Contains(opt.sets, string(s)) })
	}
	more := &protection.Result{}
	if len(sets) > 0 {
		var err error
		if more, err = c.replayBench(ctx, data, others, protection.Options{Sets: sets}); err != nil {
			return err
		}
	}
	page.Profiles = more.Sets
	var b bytes.Buffer
	write := page.Write
	if filepath.Ext(opt.report) == ".svg" {
		write = page.WriteChart
	}
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(c.path(opt.report), b.Bytes(), 0o644); err != nil { // #nosec G306 -- a page to be shown
		return refuse("choose a file that can be written", "report: %s", err)
	}
	return nil
}
