package story

import (
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel/replay"
)

// replayParts lists the parts of a file that judge its story again.
func replayParts() []string {
	return []string{"replay", "new-policy", "new-catalog", "endorsed", "disowned"}
}

// playReplay judges the recorded session again and compares the changed decisions with the story's,
// line by line.
func (w *world) playReplay(name string, ar *txtar.Archive, first int, shipped *catalog.Catalog, res *Result) error {
	want, ok := file(ar, "replay")
	if !ok {
		return nil
	}
	now, _, err := load(name, ar, shipped, "new-")
	if err != nil {
		return fmt.Errorf("%s: the new rules: %w", name, err)
	}
	// Under the same rules no decision may change.
	same, err := w.rejudge(replay.Retrial{Now: w.rules})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(same) != 1 {
		return fmt.Errorf("%s: judged again by the same rules it differs: %s", name, strings.Join(same, "; "))
	}
	got, err := w.rejudge(replay.Retrial{Now: now, Then: &w.rules, Endorse: contents(ar, "endorsed"), Disown: contents(ar, "disowned")})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	res.Checks++
	for i, line := range strings.Split(strings.TrimRight(want, "\n"), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(got) == 0 || got[0] != line {
			res.Mistakes = append(res.Mistakes, Mistake{Line: first + i, Said: "replay", Want: line, Got: strings.Join(append(got, ""), "\n          ")})
			return nil
		}
		got = got[1:]
	}
	if len(got) > 0 {
		res.Mistakes = append(res.Mistakes, Mistake{Line: first, Said: "replay", Got: strings.Join(got, "\n          ")})
	}
	return nil
}

// contents returns the digests of the texts in a part, one on each line.
func contents(ar *txtar.Archive, part string) (list []floodmark.Digest) {
	text, _ := file(ar, part)
	for line := range strings.Lines(text) {
		if line = lines(strings.TrimSpace(line)); line != "" {
			list = append(list, floodmark.DigestOf(line))
		}
	}
	return list
}

// rejudge returns one line for each decision that changed, one for each that the facts are not
// enough to judge, and one that counts the questions.
func (w *world) rejudge(r replay.Retrial) ([]string, error) {
	var out []string
	asked, would, tasks := 0, 0, 0
	for _, id := range w.order {
		s := w.sessions[id]
		facts := make([]replay.Recorded, len(s.facts))
		for i, f := range s.facts {
			facts[i] = replay.Recorded{At: s.times[i], Fact: f}
		}
		a, err := r.Session(facts, nil)
		if err != nil {
			return nil, fmt.Errorf("judge session %s again: %w", id, err)
		}
		asked, would, tasks = asked+a.Asked, would+a.WouldAsk, tasks+a.Tasks
		for _, d := range a.Decisions {
			if d.Outcome != replay.Unchanged {
				out = append(out, fmt.Sprintf("%s %d %s: %s", id, d.Index+1, d.Title(), d.Difference()))
			}
		}
	}
	return append(out, fmt.Sprintf("questions %d -> %d, tasks %d", asked, would, tasks)), nil
}
