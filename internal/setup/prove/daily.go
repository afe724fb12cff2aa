package prove

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/floodmark/floodmark/internal/setup/protect"
)

// Daily checks once a day whether the last proofs are still valid. It starts no agent: it sends a
// canary through the agent's hooks, and compares the agent's program and settings with the last
// proof.
type Daily struct {
	// Proofs is the file with the last results of prove. Checked is the file with the last results
	// of this check. Records is the folder with the agents' original settings.
	Proofs, Checked, Records string
	// Hook is the hook program in this program's folder. The agents' settings may start no other.
	Hook string
}

// Every is the time between two checks.
const Every = 24 * time.Hour

// The kinds of findings.
const (
	// Updated means that the agent's program is not the one that was proved.
	Updated = "agent-updated"
	// Broken means that the agent is no longer connected, or gets no answer.
	Broken = "self-check-failed"
)

// A Finding says why a proof is not valid any more. The zero value means that it is valid.
type Finding struct {
	Kind string `json:"kind,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Checks are the results of the last check. Fields are only added.
type Checks struct {
	V      int                `json:"v"`
	At     time.Time          `json:"at"`
	Agents map[string]Finding `json:"agents"`
}

// Checked reads the results of the last check. They are zero if there was none.
func Checked(path string) (Checks, error) {
	var c Checks
	there, err := readJSON(path, &c)
	if err != nil {
		return Checks{}, err
	}
	if there && c.V != proofsVersion {
		return Checks{}, fmt.Errorf("%s was written by another version of floodmark", path)
	}
	return c, nil
}

// Step checks if a check is due, and returns the new findings. Their texts name the agent.
func (d Daily) Step(ctx context.Context, now time.Time) ([]Finding, error) {
	last, err := Checked(d.Checked)
	if err != nil {
		last = Checks{} // all findings are new then
	}
	if age := now.Sub(last.At); age >= 0 && age < Every {
		return nil, nil
	}
	known, err := readProofs(d.Proofs)
	if err != nil {
		return nil, err
	}
	checks := Checks{V: proofsVersion, At: now, Agents: map[string]Finding{}}
	var fresh []Finding
	for _, a := range protect.Agents() {
		look, is := known.Looks[a.Name]
		if !is {
			continue
		}
		found := d.check(ctx, a.Name, look, known.Agents[a.Name])
		checks.Agents[a.Name] = found
		if found != (Finding{}) && last.Agents[a.Name] != found {
			fresh = append(fresh, Finding{found.Kind, a.Title + ": " + found.Why + " " + found.hint(a.Name)})
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // the program is being stopped, so the results mean nothing
	}
	return fresh, writeJSON(d.Checked, checks)
}

// hint returns what a person can do about a finding.
func (f Finding) hint(agent string) string {
	if f.Kind == Updated {
		return "(«floodmark prove " + agent + "» tries it again)"
	}
	return "(«floodmark status» says more)"
}

func (d Daily) check(ctx context.Context, agent string, look Look, last Proof) Finding {
	m := look.machine(d.Records)
	f, there, err := m.Find(ctx, agent)
	switch {
	case err != nil:
		return Finding{Broken, err.Error()}
	case !there:
		return Finding{} // the agent is no longer on this machine
	case f.State == protect.Open:
		return Finding{Broken, "nothing of ours is in its settings any more"}
	case f.State != protect.Protected:
		return Finding{Broken, f.Why}
	}
	if err := d.ours(f.Hooks); err != nil {
		return Finding{Broken, err.Error()}
	}
	if _, err := ask(ctx, m, agent); err != nil {
		return Finding{Broken, err.Error()}
	}
	return updated(f, last)
}

// ours checks that the settings start no other hook program than d.Hook.
func (d Daily) ours(hooks []string) error {
	own, err := filepath.EvalSymlinks(d.Hook)
	if err != nil && len(hooks) > 0 {
		return fmt.Errorf("there is no %s beside the monitor", filepath.Base(d.Hook))
	}
	if i := slices.IndexFunc(hooks, func(word string) bool {
		there, err := filepath.EvalSymlinks(word)
		return err != nil || there != own
	}); i >= 0 {
		return fmt.Errorf("its settings start %s, which is not the hook program of this monitor", hooks[i])
	}
	return nil
}

// updated compares an agent with its last proof. It finds nothing for an agent that was never
// proved; "floodmark status" shows that.
func updated(f protect.Found, last Proof) Finding {
	if last.Grade == "" {
		return Finding{}
	}
	if f.Version != "" && last.Version != "" && f.Version != last.Version {
		return Finding{Updated, "it was " + last.Version + " when it was proved, and is " + f.Version + " now"}
	}
	now, err := programDigest(f.Program)
	if err == nil && now != "" && last.Program != "" && now != last.Program {
		return Finding{Updated, "its program was changed since it was proved"}
	}
	return Finding{}
}
