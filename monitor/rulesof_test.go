package monitor_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// A sub-agent, and its own sub-agents, are judged by the rules of their root session, at every node
// and after a restart.
func TestABranchHasTheRulesOfItsRoot(t *testing.T) {
	lax, strict := mustRules(t, "version: 1\n"), mustRules(t, "version: 1\nprofile: strict\n")
	var mu sync.Mutex
	var roots []string
	rules := func(c *monitor.Config) {
		c.RulesOf = func(s journal.Session, root floodmark.SessionID) kernel.Rules {
			mu.Lock()
			defer mu.Unlock()
			roots = append(roots, string(s.ID)+"<"+string(root))
			if root == "strict" {
				return strict
			}
			return lax
		}
	}
	mem := journal.NewMemory()
	d := newDesk(t, mem, rules)
	for _, root := range []string{"lax", "strict"} {
		d.tell(t, at(root, hook.SessionStart))
		d.tell(t, spawns(root, root+"-child"))
		d.tell(t, spawns(root+"-child", root+"-grandchild"))
		d.tell(t, spawns(root+"-grandchild", root+"-last"))
	}
	for _, node := range []*desk{d, newDesk(t, mem, rules)} {
		for root, want := range map[string]kernel.Rules{"lax": lax, "strict": strict} {
			for _, id := range []string{root, root + "-child", root + "-grandchild", root + "-last"} {
				mu.Lock()
				roots = nil
				mu.Unlock()
				node.tell(t, at(id, hook.LoopIterationStart))
				mu.Lock()
				if !slices.Contains(roots, id+"<"+root) {
					t.Errorf("%s was judged as %v", id, roots)
				}
				mu.Unlock()
				view, err := node.View(t.Context(), session(id))
				if err != nil || view.State.Policy != want.Policy.Hash() {
					t.Errorf("%s is under %s, %v", id, view.State.Policy.Short(), err)
				}
			}
		}
	}
}
