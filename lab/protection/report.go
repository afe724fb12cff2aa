package protection

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"
)

//go:embed report.html
var reportPage embed.FS

// A Report is a measurement with the information a reader needs about it.
type Report struct {
	*Result
	At      time.Time // when it was measured
	Version string    // of the program
	Profile string    // of the policy «floodmark» in Result
	// Profiles are further scores of the monitor on the recorded sets, under profiles other than
	// the one in Result.
	Profiles []Score
}

// Write writes a self-contained page: no network, no scripts.
func (r *Report) Write(w io.Writer) error {
	page, err := template.New("report.html").Funcs(template.FuncMap{
		"share": share, "mean": mean, "fall": fall, "own": ofMonitor,
	}).ParseFS(reportPage, "report.html")
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	return page.Execute(w, map[string]any{
		"R": r, "Dojo": template.HTML(r.dojo()), "Dyn": template.HTML(r.dyn()), // #nosec G203 -- made by our own code, names escaped
		"Recorded": r.blocks(append(Sets(), Languages), everyScore), "Mutated": r.blocks(mutatedSets(), everyScore),
		"Answers": r.blocks(Sets(), func(s Score) bool { return s.Answers > 0 }), "Rivals": Rivals(),
		"At": r.At.UTC().Format("2 January 2006 15:04 UTC"),
	})
}

// WriteChart writes only the first picture, for a page of the documentation.
func (r *Report) WriteChart(w io.Writer) error {
	_, err := io.WriteString(w, r.dojo())
	return err
}

func (r *Report) dojo() string {
	return chart("dojo", "AgentDojo: questions per task against attacks that pass",
		"Floodmark and two simple policies on 12,816 recorded attacks and 452 honest tasks, beside the published points of others. The table below has every figure.",
		r.points("agentdojo", AgentDojoRecorded))
}

func (r *Report) dyn() string {
	return chart("dyn", "AgentDyn: questions per task against attacks that pass",
		"The same on 3,624 recorded attacks and 172 honest tasks of the harder benchmark, both halves together. The table below has every figure.",
		r.points("agentdyn", AgentDynRecordedDev, AgentDynRecordedTest))
}

// points returns every policy on some sets together, and the rivals on the same benchmark.
func (r *Report) points(on string, sets ...Set) []point {
	var order []string
	sums := map[string]*Counts{}
	for _, s := range slices.Concat(r.Sets, r.Profiles) {
		if !slices.Contains(sets, s.Set) {
			continue
		}
		if sums[s.Policy] == nil {
			sums[s.Policy] = &Counts{}
			order = append(order, s.Policy)
		}
		sums[s.Policy].Add(s.Counts)
	}
	var all []point
	for _, name := range order {
		c := sums[name]
		p := point{name: name, x: c.QuestionsPerTask, sort: ours}
		if name == "floodmark" {
			p.name += " " + r.Profile
		}
		if c.Attacks > 0 {
			p.y = 100 * float64(c.Passed) / float64(c.Attacks)
		}
		if name == "none" || name == "A" || name == "B" {
			p.sort, p.name = plainA, map[string]string{"none": "no monitor", "A": "A: high-water mark", "B": "B: verbatim"}[name]
		}
		p.detail = fmt.Sprintf("%d of %d attacks pass, %.2f questions per task", c.Passed, c.Attacks, c.QuestionsPerTask)
		all = append(all, p)
	}
	for _, v := range Rivals() {
		if v.On == on {
			all = append(all, point{name: v.Name, x: v.Asks, y: v.Passed, sort: theirs, arrow: v.AtLeast, detail: v.Figures + "; " + v.Differs})
		}
	}
	return all
}

// A block is the rows of one set.
type block struct {
	Set  Set
	Rows []Score
}

// blocks returns the scores that want accepts, set by set.
func (r *Report) blocks(sets []Set, want func(Score) bool) []block {
	var all []block
	for _, set := range sets {
		b := block{Set: set}
		for _, s := range slices.Concat(r.Sets, r.Profiles) {
			if s.Set == set && want(s) {
				b.Rows = append(b.Rows, s)
			}
		}
		if len(b.Rows) > 0 {
			all = append(all, b)
		}
	}
	return all
}

func mutatedSets() []Set {
	var all []Set
	for _, m := range Mutations() {
		all = append(all, m.Set())
	}
	return all
}

func everyScore(Score) bool { return true }

// ofMonitor reports whether a score is one of ours.
func ofMonitor(s Score) bool { return s.Policy != "none" && s.Policy != "A" && s.Policy != "B" }

// fall returns by how many points the share of silent runs changed.
func fall(s Score) string {
	if s.Benign == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f", 100*float64(s.Silent-s.SilentBefore)/float64(s.Benign))
}
