package config_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// Beside a fleet's rules, the parts of the owner's own policy that tighten are in effect, even in a
// rule that also keeps records. A policy that would be wrong alone is an error.
func TestOwnOf(t *testing.T) {
	const both = `version: 1
relax: false
rules:
  - {name: a, when: "true", action: {verdict: restrict, persist_graph: true, reason: no}}
  - {name: b, when: "true", action: {persist_graph: true, block_turn: false}}
`
	own, err := config.OwnOf("policy.yaml", []byte(both))
	if err != nil || !own.There() || !strings.Contains(own.Left, "[relax rules that keep records]") {
		t.Fatalf("%+v, %v", own, err)
	}
	with, err := config.NewReader().Joined("bundle", []byte("version: 1\nprofile: coding\n"), own)
	if err != nil {
		t.Fatal(err)
	}
	without, err := config.NewReader().Joined("bundle", []byte("version: 1\nprofile: coding\n"), config.Own{})
	if err != nil || with.Policy.Hash() == without.Policy.Hash() || with.Policy.Profile() != "coding" {
		t.Errorf("it adds nothing: %v", err)
	}
	for name, text := range map[string]string{"no file": "", "nothing that tightens": "version: 1\nprofile: coding\n"} {
		var data []byte
		if text != "" {
			data = []byte(text)
		}
		own, err := config.OwnOf("policy.yaml", data)
		if err != nil || own.There() != (data != nil) {
			t.Errorf("%s: %+v, %v", name, own, err)
		}
		if r, err := config.NewReader().Joined("bundle", []byte("version: 1\nprofile: coding\n"), own); err != nil || r.Policy.Hash() != without.Policy.Hash() {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "version: 1\nno such key: 1\n", "version: 1\nrules: [", "- x\n", "version: 1\nrules: [{name: a, when: \"what\", action: {verdict: restrict}}]\n"} {
		if own, err := config.OwnOf("policy.yaml", []byte(text)); err == nil || own.There() {
			t.Errorf("%q holds", text)
		}
	}
}
