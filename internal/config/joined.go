package config

import (
	"errors"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// StrictPolicy is what holds where nothing else may.
const StrictPolicy = "version: 1\nprofile: strict\n"

// CodingPolicy is what «floodmark protect» writes where there is no policy and only agents
// that work on code. As long as it stays so it is ours to take back.
const CodingPolicy = `# Written by «floodmark protect», because only agents that work on code were found.
# Edit it as you like. Left as it is, «floodmark unprotect» takes it away again.
version: 1
profile: coding
`

// Joined are the rules of a laptop that joined a fleet: those of the fleet,
// in place of the owner's own, of which only what tightens counts besides.
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
