package integrations

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Cover says what the hooks of one agent see and what they do not see, in words for people.
type Cover struct {
	// Agent is the agent's name for programs. Title is its name for people.
	Agent string `yaml:"agent"`
	Title string `yaml:"title"`
	// Measured is the newest version that was examined. Other versions may differ.
	Measured string `yaml:"measured"`
	// Run is set if we ran this version. Otherwise only its documentation was read.
	Run bool `yaml:"run"`
	// Covered lists what is judged before it happens.
	Covered []string `yaml:"covered"`
	// Off lists what is switched off because no hook is called for it.
	Off []Off `yaml:"off"`
	// Holes list what the agent can do without a hook being called.
	Holes []Hole `yaml:"holes"`
}

// An Off is something the agent can no longer do while it is protected.
type Off struct {
	// Setting is the agent's setting that is changed. Text says what is lost, and why.
	Setting string `yaml:"setting"`
	Text    string `yaml:"text"`
}

// A Hole is something the agent can do without a hook being called.
type Hole struct {
	// ID identifies the hole for programs.
	ID string `yaml:"id" json:"id"`
	// Text describes the hole for people.
	Text string `yaml:"text" json:"text"`
}

// Lost returns what a diff of the agent's settings switches off, and why. diff contains its lines.
func (c Cover) Lost(diff []string) (list []string) {
	for _, off := range c.Off {
		if slices.ContainsFunc(diff, func(line string) bool {
			return strings.HasPrefix(line, "+") && strings.Contains(line, off.Setting+" =")
		}) {
			list = append(list, c.Title+" loses "+off.Text)
		}
	}
	return list
}

// Covers returns the covers of all agents by their names.
func Covers() (map[string]Cover, error) {
	data, err := File("covers.yaml")
	if err != nil {
		return nil, err
	}
	var list []Cover
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("shipped covers: %w", err)
	}
	all := make(map[string]Cover, len(list))
	for _, c := range list {
		all[c.Agent] = c
	}
	return all, nil
}
