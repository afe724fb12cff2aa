package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A rulesChange is a change of the owner's policy file.
type rulesChange struct {
	// Path is the policy file.
	Path string `json:"path"`
	// What is rulesMade or rulesRemoved.
	What string `json:"what"`
	// Why explains the change to the person.
	Why string `json:"why"`
}

const (
	rulesMade    = "made"
	rulesRemoved = "removed"
)

// rulesFor returns what a plan changes in the rules; nil if nothing. It never changes rules that
// the owner wrote, nor those of the whole machine.
func rulesFor(ctx context.Context, c *cli.Console, m protect.Machine, f protectFlags, plan *protect.Plan) (*rulesChange, error) {
	if f.System || f.mcp || plan.Nothing() {
		return nil, nil //nolint:nilnil // no change, and no error
	}
	paths, err := c.Paths(f.Place)
	if err != nil {
		return nil, err
	}
	there, ours, err := rulesAt(paths.Policy)
	if err != nil {
		return nil, err
	}
	m.Still = true
	found := m.List(ctx)
	assistant := slices.ContainsFunc(found, func(a protect.Found) bool { return !a.Codes() })
	switch {
	case f.undo && ours && !othersStay(found, plan):
		return &rulesChange{paths.Policy, rulesRemoved, "no agent is protected any more"}, nil
	case f.undo:
	case ours && assistant:
		return &rulesChange{paths.Policy, rulesRemoved, "not every agent here only works on code, so the profile assistant holds again"}, nil
	case !there && !assistant && len(found) > 0:
		return &rulesChange{paths.Policy, rulesMade, "only agents that work on code are here; the profile assistant would ask more"}, nil
	}
	return nil, nil //nolint:nilnil // as above
}

// rulesAt reports whether there is a policy file, and whether it is the file that protect writes.
func rulesAt(path string) (there, ours bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, false, nil // a broken link; a person made it
	}
	return true, string(text) == config.CodingPolicy, err
}

// othersStay reports whether any agent that is not in the plan stays protected.
func othersStay(found []protect.Found, plan *protect.Plan) bool {
	return slices.ContainsFunc(found, func(a protect.Found) bool {
		return a.State != protect.Open && !slices.ContainsFunc(plan.Agents, func(p protect.Found) bool { return p.Name == a.Name })
	})
}

// apply makes the change. The monitor notices it by itself.
func (r *rulesChange) apply() error {
	switch {
	case r == nil:
		return nil
	case r.What == rulesRemoved:
		if _, ours, err := rulesAt(r.Path); err != nil || !ours {
			return err // keep it if it was edited meanwhile
		}
		return errors.Join(os.Remove(r.Path), wholefile.SyncFolder(filepath.Dir(r.Path)))
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return err
	}
	if there, _, err := rulesAt(r.Path); err != nil || there {
		return err // keep rules that were written meanwhile
	}
	return wholefile.Replace(r.Path, []byte(config.CodingPolicy), 0o600)
}

// text describes the change in the style of the plan.
func (r *rulesChange) text(st cli.Style, home string) string {
	if r == nil {
		return ""
	}
	p := &cli.Sheet{St: st}
	sign, paint, head := "+ ", st.Green, "Rules: "+fromHome(r.Path, home)+", a new file"
	if r.What == rulesRemoved {
		sign, paint, head = "- ", st.Red, "Rules: "+fromHome(r.Path, home)+" is removed"
	}
	p.Title(head)
	p.Line(2, r.Why)
	for _, line := range []string{"version: 1", "profile: coding"} {
		p.Painted(2, sign+line, paint)
	}
	p.B.WriteByte('\n')
	return p.String()
}

// sayRules says which profile is used, if there is no policy file and an agent here works on code.
func sayRules(c *cli.Console, f protectFlags, plan *protect.Plan) {
	paths, err := c.Paths(f.Place)
	if err != nil {
		return
	}
	there, _, err := rulesAt(paths.Policy)
	if err != nil || there || !slices.ContainsFunc(plan.Agents, func(a protect.Found) bool { return a.Codes() }) {
		return
	}
	c.Say("the profile assistant holds, which asks more than work on code needs: «profile: coding» in %s asks less (docs/guide/coding-agents.md)", paths.Policy)
}
