package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/lab/protection"
)

// dataEnv names the folder with recorded attacks.
const dataEnv = "FLOODMARK_PROTECTION_DATA"

// protectionOptions are the flags of «lab protection».
type protectionOptions struct {
	data     string
	sets     []string
	policies []string
	profile  string
	groups   bool
	names    bool
	sample   int
	report   string
}

func newProtection(c console) *cobra.Command {
	var opt protectionOptions
	cmd := &cobra.Command{
		Use:   "protection",
		Short: "Replay recorded attacks and count what is stopped",
		Long: `Replay recorded runs of real agents under prompt injection and count which attacks
would have been stopped and how often a person would have been asked. No model is
run: the recording goes on as it was, so the figures say nothing about an agent
that tries another way after a refusal.

The policies are: none (no monitor), A (every consequential call asks once content
of others was seen), B (so, unless each argument that matters was seen in trusted
text) and floodmark (the shipped rules). The sets whose names end in -test are
held out: rules are written without looking into them.

Only if they are named: floodmark with an auditor that is played, one that knows the
recording (perfect), one that never can tell (unsure), one that never answers (down),
that with failMode: warn (down-warn), and one that agrees to everything (fooled).

The sets mutation-1 to mutation-5 are the attacks that succeeded, written again as
an attacker would who knows the rules: he owns the sender field (1), copies the
topic (2), has his values repeated by a trusted tool (3), splits, encodes or
misspells them (4), puts them into every field (5). Benign traces get such a
record too (1, 2, 5): the monitor should not ask more for that.

The set languages has 30 tasks in German, Spanish and Chinese. Its attacks are 30
twins in which the owner only names, denies or quotes the same values.

The folder with the recorded data is --data, else $` + dataEnv + `.`,
		Example: `  lab protection --data protection
  lab protection --data protection --policy none,floodmark --output json
  lab protection --data protection --set agentdojo-recorded --groups
  lab protection --data protection --set mutation-4 --sample 1 --names
  lab protection --data protection --sample 1 --report protection.html`,
		Args: cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return c.protection(cmd.Context(), opt, cli.Format(cmd))
		}),
	}
	f := cmd.Flags()
	f.StringVar(&opt.data, "data", "", "the `FOLDER` with the recorded data")
	f.StringSliceVar(&opt.sets, "set", nil, "only these `SETS`, with commas between them")
	f.StringSliceVar(&opt.policies, "policy", policyNames(), "these `POLICIES`, with commas between them")
	f.StringVar(&opt.profile, "profile", profiles()[0], "the shipped `PROFILE` that the policy floodmark has: "+strings.Join(profiles(), ", "))
	f.BoolVar(&opt.groups, "groups", false, "show the counts by suite, model and attack too (text only)")
	f.BoolVar(&opt.names, "names", false, "name the attacks that pass and the tasks with a question, held-out ones aside, and say why it was asked (text only)")
	f.IntVar(&opt.sample, "sample", quickSample, "mutate one in `N` traces; 1 is all of them")
	f.StringVar(&opt.report, "report", "", "write a page with pictures and tables to this `FILE` too (.svg: the first picture alone)")
	cli.Complete(cmd, "set", setNames())
	cli.Complete(cmd, "policy", allPolicyNames())
	cli.Complete(cmd, "profile", profiles())
	return cmd
}

// quickSample is the default for --sample: one trace in so many is mutated. A sample takes seconds,
// all traces take more than a minute.
const quickSample = 16

func policyNames() []string { return []string{"none", "A", "B", "floodmark"} }

// auditedNames are the policies with a simulated auditor. They are measured only if they are named.
func auditedNames() []string { return []string{"perfect", "unsure", "down", "down-warn", "fooled"} }

func allPolicyNames() []string { return append(policyNames(), auditedNames()...) }

func setNames() []string {
	var names []string
	for _, s := range protection.AllSets() {
		names = append(names, string(s))
	}
	return names
}

func (c console) protection(ctx context.Context, opt protectionOptions, form string) error {
	if err := oneOf("--set", opt.sets, setNames()); err != nil {
		return err
	}
	if err := oneOf("--policy", opt.policies, allPolicyNames()); err != nil {
		return err
	}
	if err := oneOf("--profile", []string{opt.profile}, profiles()); err != nil {
		return err
	}
	data, err := c.recordings(opt.data)
	if err != nil {
		return err
	}
	sets := protection.AllSets()
	if len(opt.sets) > 0 {
		sets = nil
		for _, name := range opt.sets {
			sets = append(sets, protection.Set(name))
		}
	}
	deciders, err := newDeciders(data, opt.policies, opt.profile)
	if err != nil {
		return err
	}
	res, err := c.replay(ctx, data, deciders, protection.Options{Sets: sets, Sample: opt.sample})
	if err != nil {
		return err
	}
	if opt.report != "" {
		if err := c.reported(ctx, data, res, opt); err != nil {
			return err
		}
	}
	return c.print(res, opt, form)
}

// replay calls protection.Replay and shows a progress bar.
func (c console) replay(ctx context.Context, data *protection.Data, deciders []protection.Decider, opt protection.Options) (*protection.Result, error) {
	done, end := c.progress("replaying")
	opt.Progress = done
	res, err := protection.Replay(ctx, data, deciders, opt)
	end()
	if err != nil && ctx.Err() != nil {
		return nil, cli.Refuse("", "interrupted")
	}
	return res, err
}

func (c console) print(res *protection.Result, opt protectionOptions, form string) error {
	if form == cli.AsJSON {
		return c.JSON(res)
	}
	parts := []func(io.Writer) error{res.WriteTable, res.WriteAnswers}
	if res.Seed != 0 {
		parts = append(parts, res.WriteMutations)
	}
	if opt.groups {
		parts = append(parts, res.WriteGroups)
	}
	if opt.names {
		parts = append(parts, res.WriteNames, res.WriteWhy)
	}
	for i, write := range parts {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		if err := write(c.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// newDeciders makes the policies that are measured, in the given order.
func newDeciders(data *protection.Data, names []string, profile string) ([]protection.Decider, error) {
	var list []protection.Decider
	for _, name := range names {
		switch name {
		case "none":
			list = append(list, protection.None())
		case "A":
			list = append(list, protection.HighWater(data))
		case "B":
			list = append(list, protection.Verbatim(data))
		case "floodmark":
			rules, err := protection.Rules(profile)
			if err != nil {
				return nil, err
			}
			m, err := protection.Monitor(name, rules)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		default:
			m, err := newAudited(name, profile)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		}
	}
	return list, nil
}

// newAudited makes the policy floodmark with a simulated auditor.
func newAudited(name, profile string) (protection.Decider, error) {
	says, mode := protection.Simulated(protection.Down), "block"
	switch name {
	case "perfect":
		says = protection.Perfect
	case "fooled":
		says = protection.Fooled
	case "unsure":
		says = protection.AlwaysUnsure
	case "down-warn":
		mode = "warn"
	}
	rules, err := protection.AuditedRules(profile, mode)
	if err != nil {
		return nil, err
	}
	return protection.Audited(name, rules, says)
}

// reported writes the page about a measurement. It also measures the other shipped profiles on the
// recorded sets, so that they appear in the same picture. If the name of the file ends in .svg,
// only the first picture is written.
func (c console) reported(ctx context.Context, data *protection.Data, res *protection.Result, opt protectionOptions) error {
	page := protection.Report{Result: res, At: time.Now(), Version: c.Build.Commit, Profile: opt.profile}
	var others []protection.Decider
	for _, profile := range profiles() {
		if profile == opt.profile || profile == "dry-run" { // dry-run enforces nothing
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
		if more, err = c.replay(ctx, data, others, protection.Options{Sets: sets}); err != nil {
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
	if err := os.WriteFile(c.Path(opt.report), b.Bytes(), 0o644); err != nil { // #nosec G306 -- a page to be shown
		return cli.Refuse("choose a file that can be written", "report: %s", err)
	}
	return nil
}
