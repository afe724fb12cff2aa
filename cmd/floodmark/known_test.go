package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/catalog"
)

//go:generate go test . -run ^TestKnown$ -update

// names is a word or a list of words.
type names []string

func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = names{node.Value}
		return nil
	}
	var list []string
	err := node.Decode(&list)
	*n = list
	return err
}

// TestKnown holds known.txt against the catalog's files. With -update it
// writes it.
func TestKnown(t *testing.T) {
	files, err := filepath.Glob("../../catalog/data/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalog: %v", err)
	}
	var b strings.Builder
	b.WriteString("# Written by go generate from the names in catalog/data. Do not change it by hand.\n")
	for _, file := range files {
		knownOf(t, file, &b)
	}
	if *update {
		if err := os.WriteFile("known.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if knownText != b.String() {
		t.Error("known.txt is not what the catalog says; run go generate ./cmd/floodmark")
	}
}

func knownOf(t *testing.T, file string, b *strings.Builder) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Agent, Server names
		Tools         []struct {
			Tool, Agent, Server names
			Args                yaml.Node
		}
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	switch {
	case len(doc.Agent) > 0:
		b.WriteString("\nagent " + strings.Join(doc.Agent, " ") + "\n")
	case len(doc.Server) > 0:
		b.WriteString("\nserver " + strings.Join(doc.Server, " ") + "\n")
	}
	for _, tool := range doc.Tools {
		if len(tool.Agent)+len(tool.Server) > 0 {
			t.Fatalf("%s: a tool with an owner of its own cannot be listed", file)
		}
		line := strings.Join(tool.Tool, " ") + ":"
		for i := 0; i < len(tool.Args.Content); i += 2 {
			line += " " + tool.Args.Content[i].Value
		}
		b.WriteString(line + "\n")
	}
}

// TestKnownIsInTheCatalog asks the catalog about every name.
func TestKnownIsInTheCatalog(t *testing.T) {
	cat, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range knownOwners() {
		for _, e := range o.entries {
			for _, tool := range e.tools {
				p, ok := cat.Lookup(o.ref(tool))
				if !ok {
					t.Errorf("the catalog does not know %s of %v", tool, o.names)
					continue
				}
				for _, arg := range e.args {
					if _, ok := p.Arg(arg); !ok {
						t.Errorf("the catalog knows no argument %q of %s", arg, tool)
					}
				}
			}
		}
	}
}
