package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/policy"
)

// An Own is the part of the owner's own policy that stays in effect beside the rules of a fleet:
// the part that can only tighten. The zero Own is for an owner without a policy file.
type Own struct {
	file  string
	tight []byte // nil if nothing tightens
	// Left says which parts of the file have no effect; empty: all have.
	Left string
}

// There reports whether the owner has a policy file.
func (o Own) There() bool { return o.file != "" }

// ReadPolicy reads a policy file; nil if there is none.
func ReadPolicy(file string) ([]byte, error) {
	text, err := readFile(file, MaxPolicyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	return append([]byte{}, text...), nil // an empty file is a policy, so it is not nil
}

// OwnOf returns the part of the owner's own policy that stays in effect on a laptop that joined a
// fleet. text is nil if there is no file. A policy that is invalid by itself is an error here, too.
func OwnOf(file string, text []byte) (own Own, err error) {
	if text == nil {
		return Own{}, nil
	}
	if p, problems := policy.Load(policy.Layer{Name: file, Data: text}); p == nil {
		return Own{}, problems
	}
	own.file = file
	if own.tight, own.Left, err = tightening(file, text); err != nil {
		return Own{}, err
	}
	if own.tight == nil {
		return own, nil
	}
	strict := policy.Layer{Name: file, Data: []byte(StrictPolicy)}
	if p, problems := policy.Load(strict, policy.Layer{Name: file, Data: own.tight, Project: true}); p == nil {
		return Own{}, problems
	}
	return own, nil
}

// tightening returns the sections of a policy that a project's policy may also have, because these
// can only tighten; nil if there are none. left says which sections it dropped.
func tightening(file string, text []byte) (data []byte, left string, err error) {
	var top map[string]yaml.Node
	if err := yaml.Unmarshal(text, &top); err != nil {
		return nil, "", err
	}
	var others []string
	kept := map[string]*yaml.Node{}
	for key, value := range top {
		switch key {
		case "rules":
			if records(&value) {
				others = append(others, "rules that keep records")
			}
			kept[key] = &value
		case "version", "taintPolicy", "toolOverrides":
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

// records removes the wish to keep records from rules, because it tightens nothing and a project
// may not ask for it. It reports whether there was any.
func records(rules *yaml.Node) (found bool) {
	rules.Content = slices.DeleteFunc(rules.Content, func(rule *yaml.Node) bool {
		for i := 0; i+1 < len(rule.Content); i += 2 {
			if rule.Content[i].Value == "action" {
				acts, kept := actsOnly(rule.Content[i+1])
				found = found || kept
				return !acts
			}
		}
		return false
	})
	return found
}

// actsOnly removes the wish to keep records from an action. It reports whether the action does
// anything else, and whether there was such a wish.
func actsOnly(action *yaml.Node) (acts, kept bool) {
	var left []*yaml.Node
	for i := 0; i+1 < len(action.Content); i += 2 {
		key, value := action.Content[i], action.Content[i+1]
		switch key.Value {
		case "persist_graph":
			kept = true
			continue
		case "reason":
		case "block_turn":
			acts = acts || value.Value == "true"
		default:
			acts = true
		}
		left = append(left, key, value)
	}
	action.Content = left
	return acts, kept
}
