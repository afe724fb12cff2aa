package integrations

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Cover is what the hooks of one agent see and what they cannot, in words for people.
type Cover struct {
	// Agent is its name, Title what people call it.
	Agent string `yaml:"agent"`
	Title string `yaml:"title"`
	// Measured is the newest version that was examined. Others may differ.
	Measured string `yaml:"measured"`
	// Run says that this version was run by us; otherwise its documents were
	// read.
	Run bool `yaml:"run"`
	// Covered is what is judged before it happens.
	Covered []string `yaml:"covered"`
	// Off is what is switched off because no hook is told of it.
	Off []Off `yaml:"off"`
	// Holes are what passes by the hooks.
	Holes []Hole `yaml:"holes"`
}

// An Off is something the agent can no longer do while it is protected.
type Off struct {
	// Setting is the one that is written; Text says what is lost, and why.
	Setting string `yaml:"setting"`
	Text    string `yaml:"text"`
}

// A Hole is something the agent does that no hook is told of.
type Hole struct {
	// ID names it for programs.
	ID string `yaml:"id" json:"id"`
	// Text says it to people.
	Text string `yaml:"text" json:"text"`
}

// Lost returns what lines of a diff of the agent's settings switch off, and why.
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

// Covers returns those of all agents, by name.
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
