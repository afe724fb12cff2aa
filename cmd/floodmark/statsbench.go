package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/internal/protection"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// A benchCost is what something would let through of recorded attacks. Held-out
// sets are not among them: who chooses lines by them can no longer call them so.
type benchCost struct {
	// Computed is false without the data; Why says so.
	Computed bool   `json:"computed"`
	Why      string `json:"why,omitempty"`
	Attacks  int    `json:"attacks,omitempty"`
	// Now and With are the attacks that succeed under the shipped profile, and
	// with the change.
	Now  int `json:"passedNow"`
	With int `json:"passedWith"`
}

// benchLines says what the lines of rules, and switching these off, would let
// through.
func (c *console) benchLines(ctx context.Context, folder, profile string, rules []ruleReport) error {
	folder = cmp.Or(folder, c.getenv(dataEnv))
	type wanted struct {
		text string
		into *benchCost
	}
	base := "version: 1\nprofile: " + profile + "\n"
	var list []wanted
	for i := range rules {
		r := &rules[i]
		if l := r.Line; l != nil {
			l.Benchmark = &benchCost{Why: "not computed: no data"}
			if l.Key == "" {
				l.Benchmark.Why = "nothing: it is for one content or one session alone"
			} else if text, ok := linetext.WithLine(base, l.Key, l.Text, ""); ok {
				list = append(list, wanted{text, l.Benchmark})
			}
		}
		if off, ok := ruleOff(r.Rule); ok {
			r.Off = &benchCost{Why: "not computed: no data"}
			list = append(list, wanted{base + off, r.Off})
		}
	}
	if folder == "" || len(list) == 0 {
		return nil
	}
	data, err := protection.Load(c.path(folder))
	if err != nil {
		return refuse("check that the folder holds the whole data set", "recorded data in %s: %s", folder, err)
	}
	texts := []string{base}
	for _, w := range list {
		texts = append(texts, w.text)
	}
	costs, attacks, err := c.passed(ctx, data, texts)
	if err != nil {
		return err
	}
	for i, w := range list {
		*w.into = benchCost{Computed: true, Attacks: attacks, Now: costs[0], With: costs[i+1]}
	}
	return nil
}

// passed replays the attacks under policies and counts those that pass each.
func (c *console) passed(ctx context.Context, data *protection.Data, texts []string) (list []int, attacks int, err error) {
	shipped, err := c.shippedCatalog()
	if err != nil {
		return nil, 0, err
	}
	suites, err := protection.SuiteFiles()
	if err != nil {
		return nil, 0, err
	}
	var deciders []protection.Decider
	for i, text := range texts {
		p, problems := policy.Load(policy.Layer{Name: "line", Data: []byte(text)})
		if problems.Failed() {
			return nil, 0, problems
		}
		rules := kernel.NewRules(p, catalog.New(append(slices.Clip(suites), p.Tools()...), shipped))
		d, err := protection.Monitor(string(rune('a'+i)), rules)
		if err != nil {
			return nil, 0, err
		}
		deciders = append(deciders, d)
	}
	sets := slices.DeleteFunc(protection.Sets(), protection.Set.HeldOut)
	res, err := c.replayBench(ctx, data, deciders, protection.Options{Sets: sets, Sample: quickSample})
	if err != nil {
		return nil, 0, err
	}
	list = make([]int, len(texts))
	for _, s := range res.Sets {
		i := int(s.Policy[0] - 'a')
		list[i] += s.Passed
		if i == 0 {
			attacks += s.Attacks
		}
	}
	return list, attacks, nil
}

// ruleOff is a policy without a rule of the table or of flows. Cells above it
// follow: less believed content never gets more.
func ruleOff(rule string) (string, bool) {
	parts := strings.Split(rule, ".")
	if len(parts) == 2 && parts[0] == "flows" {
		return "flows: {off: [" + parts[1] + "]}\n", true
	}
	if len(parts) != 3 || parts[0] != "table" || parts[1] == floodmark.Admin.String() {
		return "", false
	}
	level, err := floodmark.ParseTrust(parts[2])
	if err != nil {
		return "", false
	}
	var cells []string
	for l := level; l <= floodmark.Owner; l++ {
		cells = append(cells, l.String()+": allow")
	}
	return "table: {" + parts[1] + ": {" + strings.Join(cells, ", ") + "}}\n", true
}

// benchText is a cost for people.
func benchText(b *benchCost) string {
	if b == nil {
		return ""
	}
	if !b.Computed {
		return b.Why
	}
	return count(b.With, "attack succeeds", "attacks succeed") + " with it, " + count(b.Now, "does", "do") + " now, of " + count(b.Attacks, "recorded one", "recorded ones")
}
