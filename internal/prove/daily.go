package prove

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/floodmark/floodmark/internal/protect"
)

// Daily checks once a day whether what was proved still holds. It starts no agent: it tries our own
// side, and compares the agent's program and settings with the last proof.
type Daily struct {
	// Proofs is the last result of prove, Checked the last of this check; Records is the folder of
	// the originals.
	Proofs, Checked, Records string
	// Hook is the hook program beside this one: no other is started.
	Hook string
}

// Every is how long a check counts.
const Every = 24 * time.Hour

// What a check finds.
const (
	// Updated means that the agent is another one than was proved.
	Updated = "agent-updated"
	// Broken means that it is no longer connected, or not answered.
	Broken = "self-check-failed"
)

// A Finding is why a proof does not count any more. The zero value means that it
// does.
type Finding struct {
	Kind string `json:"kind,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Checks are what the last check found. Fields are only added.
type Checks struct {
	V      int                `json:"v"`
	At     time.Time          `json:"at"`
	Agents map[string]Finding `json:"agents"`
}

// Checked reads what the last check found; nothing if there was none.
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

// Step checks if that is due, and returns the new findings, in words that name the agent.
func (d Daily) Step(ctx context.Context, now time.Time) ([]Finding, error) {
	last, err := Checked(d.Checked)
	if err != nil {
		last = Checks{} // then all is found anew
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
		return nil, ctx.Err() // we are being stopped, which says nothing
	}
	return fresh, writeJSON(d.Checked, checks)
}

// hint says what a person can do.
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
		return Finding{} // it is no longer on this machine
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

// ours checks that the settings start the program beside this one.
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

// updated compares an agent with its last proof. It says nothing of one that was never proved:
// «floodmark status» does.
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
