package prove

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/floodmark/floodmark/internal/setup/protect"
)

// A Standing is how an agent that was protected is found now.
type Standing struct {
	Agent string
	// Connected says that its settings are as they were written.
	Connected bool
	// Proof is the last proof; zero if there is none.
	Proof Proof
	// Boxes says that its commands can run in a box.
	Boxes bool
	// Why says what is wrong; empty if nothing is.
	Why string
}

// Standing looks at all agents of the daily check, by name. It starts no program.
func (r *Rewrites) Standing(ctx context.Context) ([]Standing, error) {
	known, err := readProofs(r.Proofs)
	if err != nil {
		return nil, err
	}
	var list []Standing
	for _, name := range slices.Sorted(maps.Keys(known.Looks)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		look := known.Looks[name]
		s := Standing{Agent: name, Proof: known.Agents[name]}
		f, there, err := look.machine(r.Records).Find(ctx, name)
		s.Connected = err == nil && there && f.State == protect.Protected
		switch {
		case err != nil || !there:
			s.Why = "it is not found any more"
		case !s.Connected:
			s.Why = cmp.Or(f.Why, "its settings are not those that protect it")
		case s.Proof.Grade == "":
			s.Why = "it was never tried"
		case s.Proof.Grade == Failed:
			s.Why = cmp.Or(s.Proof.Why, "the last try failed")
		case f.Version != "" && f.Version != s.Proof.Version:
			s.Why = "it was updated since it was tried"
		}
		s.Boxes = s.Connected && r.Boxes(ctx, name)
		list = append(list, s)
	}
	return list, nil
}
