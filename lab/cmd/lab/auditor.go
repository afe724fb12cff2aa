package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/ask/auditor"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/lab/protection"
)

// auditorOptions are the flags of «lab auditor».
type auditorOptions struct {
	dir                   string
	data, profile         string
	sets                  []string
	sample, atOnce        int
	reached               bool
	endpoint, kind, model string
	variable              string
	timeout               time.Duration
	resume                string
}

func newAuditor(c console) *cobra.Command {
	var opt auditorOptions
	cmd := &cobra.Command{
		Use:   "auditor",
		Short: "Ask a model about recorded calls and count its mistakes",
		Long: `Show a model the calls of recorded runs, as an auditor is shown them, and count how
often it blocks what the user wanted (false blocks) and agrees to what an attacker
wanted (false allows). Each distinct case is asked about once. It is done for every
call that does more than read, and counted again for those that the rules leave to an
auditor: the others never reach one.

The model is that of service.yaml, or the one named by --endpoint and --model. Asking
costs what the model costs: --sample takes one case in so many, and with --resume an
interrupted run goes on where it was. That file holds digests and answers, no text.

The folder with the recorded data is --data, else $` + dataEnv + `.`,
		Example: `  lab auditor --data protection --endpoint http://127.0.0.1:8080/v1 --model llama3
  lab auditor --data protection --sample 20 --resume answers.jsonl
  lab auditor --data protection --reached --output json`,
		Args: cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return c.auditor(cmd.Context(), opt, cli.Format(cmd))
		}),
	}
	f := cmd.Flags()
	f.StringVar(&opt.dir, "dir", "", "take service.yaml below this `FOLDER` instead of the usual one")
	f.StringVar(&opt.data, "data", "", "the `FOLDER` with the recorded data")
	f.StringSliceVar(&opt.sets, "set", nil, "only these `SETS`, with commas between them")
	f.StringVar(&opt.profile, "profile", profiles()[0], "the shipped `PROFILE` that says which calls are left to an auditor")
	f.IntVar(&opt.sample, "sample", 1, "ask about one in `N` cases")
	f.BoolVar(&opt.reached, "reached", false, "ask only about cases that the rules leave to an auditor")
	f.IntVar(&opt.atOnce, "at-once", 4, "ask `N` cases at a time, at most 8")
	f.StringVar(&opt.endpoint, "endpoint", "", "ask the service at this `URL`")
	f.StringVar(&opt.kind, "kind", string(auditor.OpenAI), "with --endpoint: the `LANGUAGE` it speaks, openai or anthropic")
	f.StringVar(&opt.model, "model", "", "with --endpoint: the `NAME` of the model")
	f.StringVar(&opt.variable, "key-from", "AUDITOR_KEY", "with --endpoint: the `VARIABLE` that holds the key")
	f.DurationVar(&opt.timeout, "timeout", auditor.MaxTimeout, "wait so long for one case")
	f.StringVar(&opt.resume, "resume", "", "keep answers in this `FILE`, and ask only what is not in it")
	cli.Complete(cmd, "set", recordedNames())
	cli.Complete(cmd, "profile", profiles())
	return cmd
}

func recordedNames() []string {
	var names []string
	for _, s := range protection.Sets() {
		names = append(names, string(s))
	}
	return names
}

// An auditResult is the answer for programs. Fields are only added.
type auditResult struct {
	Model       string                  `json:"model"`
	Endpoint    string                  `json:"endpoint"`
	PolicyHash  string                  `json:"policy_hash"`
	CatalogHash string                  `json:"catalog_hash"`
	Cases       int                     `json:"cases"`
	Sample      int                     `json:"sample"`
	Ambiguous   int                     `json:"ambiguous"`
	Scores      []protection.AuditScore `json:"scores"`
}

func (c console) auditor(ctx context.Context, opt auditorOptions, form string) error {
	if err := oneOf("--set", opt.sets, recordedNames()); err != nil {
		return err
	}
	if err := oneOf("--profile", []string{opt.profile}, profiles()); err != nil {
		return err
	}
	if opt.sample < 1 || opt.atOnce < 1 || opt.atOnce > 8 {
		return cli.Refuse("--sample is 1 or more, --at-once 1 to 8", "these numbers cannot be")
	}
	set, err := c.measured(opt)
	if err != nil {
		return err
	}
	rules, err := protection.AuditedRules(opt.profile, "block")
	if err != nil {
		return err
	}
	data, err := c.recordings(opt.data)
	if err != nil {
		return err
	}
	sets := protection.Sets()
	if len(opt.sets) > 0 {
		sets = nil
		for _, name := range opt.sets {
			sets = append(sets, protection.Set(name))
		}
	}
	done, end := c.progress("gathering")
	all, both, err := protection.Cases(ctx, data, rules, sets, done)
	end()
	if err != nil {
		return stopped(ctx, err)
	}
	cases := sampled(all, opt)
	answers, err := c.answers(ctx, set, cases, opt)
	if err != nil {
		return err
	}
	res := auditResult{
		Model: set.Model, Endpoint: set.Endpoint, PolicyHash: rules.Policy.Hash().String(), CatalogHash: rules.Catalog.Hash().String(),
		Cases: len(cases), Sample: opt.sample, Ambiguous: both, Scores: protection.ScoreAudit(cases, answers, sets),
	}
	if form == cli.AsJSON {
		return c.JSON(res)
	}
	fmt.Fprintf(c.Stdout, "policy %s\ncatalog %s\n%s at %s, %d distinct cases", res.PolicyHash, res.CatalogHash, cli.Printable(set.Model), cli.Printable(set.Endpoint), len(cases))
	fmt.Fprintf(c.Stdout, " (1 in %d); %d more are both honest and an attack and were left out\n\n", opt.sample, both)
	return protection.WriteAudit(c.Stdout, res.Scores)
}

// recordings loads the recorded data from the given folder, else from that in the environment.
func (c console) recordings(folder string) (*protection.Data, error) {
	folder = cmp.Or(folder, c.Getenv(dataEnv))
	if folder == "" {
		return nil, cli.Refuse("name its folder with --data or in "+dataEnv, "it is not said where the recorded data is")
	}
	data, err := protection.Load(c.Path(folder))
	if err != nil {
		return nil, cli.Refuse("check that the folder holds the whole data set", "recorded data in %s: %s", folder, err)
	}
	return data, nil
}

// measured returns the auditor to measure: that of the flags, else that of service.yaml.
func (c console) measured(opt auditorOptions) (config.Auditor, error) {
	if opt.endpoint != "" {
		set := config.Auditor{Endpoint: opt.endpoint, Kind: auditor.Kind(opt.kind), Model: opt.model, Timeout: config.Short(opt.timeout)}
		if key := c.Getenv(opt.variable); key != "" {
			set.Key = config.NewSecret("${" + opt.variable + "}")
		}
		return set, nil
	}
	paths, err := c.Paths(cli.Place{Dir: opt.dir})
	if err != nil {
		return config.Auditor{}, err
	}
	s, err := config.LoadService(paths.Service)
	if err != nil {
		return config.Auditor{}, err
	}
	if s.Auditor == nil {
		return config.Auditor{}, cli.Refuse("name one with --endpoint and --model", "%s names no model under «auditor»", paths.Service)
	}
	s.Auditor.Timeout = config.Short(opt.timeout)
	return *s.Auditor, nil
}

// sampled selects the cases to ask about.
func sampled(all []protection.AuditCase, opt auditorOptions) []protection.AuditCase {
	var list []protection.AuditCase
	n := 0
	for _, one := range all {
		if opt.reached && !one.Reached {
			continue
		}
		if n%opt.sample == 0 {
			list = append(list, one)
		}
		n++
	}
	return list
}

// answers asks about every case that has no answer in the file of answers yet.
func (c console) answers(ctx context.Context, set config.Auditor, cases []protection.AuditCase, opt auditorOptions) ([]audit.Answer, error) {
	a, err := set.Open(time.Now)
	if err != nil {
		return nil, cli.Refuse("check --endpoint, --kind and --model", "%s", err)
	}
	defer a.Close()
	if opt.resume != "" {
		opt.resume = c.Path(opt.resume)
	}
	book, err := openAnswers(opt.resume, set.Endpoint+"\x00"+string(set.Kind)+"\x00"+set.Model)
	if err != nil {
		return nil, cli.Refuse("name another file with --resume", "keep answers: %s", err)
	}
	defer book.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	show, end := c.progress("asking")
	defer end()
	list := make([]audit.Answer, len(cases))
	var (
		work sync.WaitGroup
		mu   sync.Mutex // guards done, show and book
		done int
		next = make(chan int)
	)
	for range opt.atOnce {
		work.Go(func() {
			for i := range next {
				says, err := book.ask(ctx, &mu, a, i, cases[i].Case)
				if err != nil {
					stop(cli.Refuse("mend it; with --resume the next run goes on from here", "%s", err))
				}
				mu.Lock()
				list[i] = says
				done++
				show(done, len(cases))
				mu.Unlock()
			}
		})
	}
	for i := 0; i < len(cases) && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	work.Wait()
	if ctx.Err() != nil {
		return nil, stopped(ctx, context.Cause(ctx))
	}
	return list, nil
}

// stopped returns why there is no result.
func stopped(ctx context.Context, err error) error {
	if err == nil || err == context.Canceled || ctx.Err() != nil && context.Cause(ctx) == context.Canceled { //nolint:errorlint // the very one
		return cli.Refuse("", "interrupted")
	}
	return err
}
