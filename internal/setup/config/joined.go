package config

import (
	"errors"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// StrictPolicy is used when no other policy is allowed.
const StrictPolicy = "version: 1\nprofile: strict\n"

// CodingPolicy is what «floodmark protect» writes if there is no policy and all agents found only
// work on code. As long as it is unchanged, unprotect removes it.
const CodingPolicy = `# Written by «floodmark protect», because only agents that work on code were found.
# Edit it as you like. Left as it is, «floodmark unprotect» takes it away again.
version: 1
profile: coding
`

// Joined returns the rules of a laptop that joined a fleet: the fleet's rules, plus the part of the
// owner's own policy that tightens them.
func (r *Reader) Joined(name string, fleet []byte, own Own, more ...*catalog.File) (Rules, error) {
	shipped, err := r.Shipped()
	if err != nil {
		return Rules{}, err
	}
	layers := []policy.Layer{{Name: name, Data: fleet}}
	if own.tight != nil {
		layers = append(layers, policy.Layer{Name: own.file, Data: own.tight, Project: true})
	}
	p, problems := policy.Load(layers...)
	if p == nil {
		return Rules{}, problems
	}
	if !p.Settings("").Enforce {
		return Rules{}, errors.New("these rules decide and enforce nothing")
	}
	return Rules{Rules: kernel.NewRules(p, catalog.New(append(p.Tools(), more...), shipped)), File: name}, nil
}
