package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/policy"
)

// An Own is the part of the owner's own policy that holds beside the rules of a fleet: what can
// only tighten. The zero Own is that of no file.
type Own struct {
	file  string
	tight []byte // nil if nothing tightens
	// Left says what of the file does not hold; it is empty if all does.
	Left string
}

// There reports whether there was a file.
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
	return append([]byte{}, text...), nil // an empty file is one
}

// OwnOf returns the part of the owner's own policy that holds on a laptop that joined a fleet; nil
// is no file. A policy that would not hold without the fleet is an error here, too.
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

// tightening returns the part of a policy that a project's could hold, which can only tighten; nil
// if there is none.
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

// records removes from rules that they keep records, which tightens nothing and which a project may
// not ask for. It reports whether there were any.
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

// actsOnly removes from an action that it keeps records. It reports whether the action does
// anything else, and whether it kept any.
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
