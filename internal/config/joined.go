package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// StrictPolicy is what holds where nothing else may.
const StrictPolicy = "version: 1\nprofile: strict\n"

// JoinedRules are the rules of a laptop that joined a fleet: those of the fleet,
// in place of the owner's own, of which only what tightens counts besides. Left
// says what of the owner's own file does not count; it is empty if all does.
func JoinedRules(name string, fleet []byte, own string, more ...*catalog.File) (r Rules, left string, err error) {
	shipped, err := catalog.Shipped()
	if err != nil {
		return Rules{}, "", err
	}
	layers := []policy.Layer{{Name: name, Data: fleet}}
	tight, left, err := tightening(own)
	if err != nil {
		return Rules{}, "", err
	}
	var p *policy.Policy
	if tight != nil {
		p, _ = policy.Load(append(layers, policy.Layer{Name: own, Data: tight, Project: true})...)
		if p == nil {
			left = own + " does not hold beside the rules of the fleet"
		}
	}
	if p == nil {
		loaded, problems := policy.Load(layers...)
		if loaded == nil {
			return Rules{}, "", problems
		}
		p = loaded
	}
	if !p.Settings("").Enforce {
		return Rules{}, "", errors.New("these rules decide and enforce nothing")
	}
	return Rules{Rules: kernel.NewRules(p, catalog.New(append(p.Tools(), more...), shipped)), File: name}, left, nil
}

// tightening returns what of the owner's own policy a project's could hold, which
// is what can only tighten; nil if there is nothing.
func tightening(file string) (data []byte, left string, err error) {
	text, err := readFile(file, MaxPolicyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	var top map[string]yaml.Node
	if err != nil || yaml.Unmarshal(text, &top) != nil {
		return nil, file + " cannot be read and does not hold", nil //nolint:nilerr // the fleet's rules hold
	}
	var others []string
	kept := map[string]*yaml.Node{}
	for key, value := range top {
		switch key {
		case "version", "rules", "taintPolicy", "toolOverrides":
			kept[key] = &value
		default:
			others = append(others, key)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		left = fmt.Sprintf("of %s these do not hold beside the rules of the fleet: %.200s", file, fmt.Sprint(others))
	}
	if len(kept) == 0 || len(kept) == 1 && kept["version"] != nil {
		return nil, left, nil
	}
	data, err = yaml.Marshal(kept)
	return data, left, err
}
