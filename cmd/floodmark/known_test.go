package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/cli/rules"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// names can be read from a word or from a list of words.
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

// TestKnown compares the names that are shown with the catalog's files, which it reads in another
// way.
func TestKnown(t *testing.T) {
	files, err := filepath.Glob("../../catalog/data/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalog: %v", err)
	}
	var want strings.Builder
	for _, file := range files {
		want.WriteString(namesIn(t, file))
	}
	var got strings.Builder
	for _, o := range rules.ShippedNames() {
		kind := "agent"
		if o.Server {
			kind = "server"
		}
		got.WriteString(kind + " " + strings.Join(o.Names, " ") + "\n")
		for _, e := range o.Entries {
			got.WriteString(strings.Join(e.Tools(), " ") + ": " + strings.Join(e.ArgNames(), " ") + "\n")
		}
	}
	if got.String() != want.String() {
		t.Error(strings.Join(linetext.Diff(want.String(), got.String()), "\n"))
	}
}

func namesIn(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Agent, Server names
		Tools         []struct {
			Tool names
			Args yaml.Node
		}
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	out := ""
	switch {
	case len(doc.Agent) > 0:
		out = "agent " + strings.Join(doc.Agent, " ") + "\n"
	case len(doc.Server) > 0:
		out = "server " + strings.Join(doc.Server, " ") + "\n"
	}
	for _, tool := range doc.Tools {
		var args []string
		for i := 0; i < len(tool.Args.Content); i += 2 {
			args = append(args, tool.Args.Content[i].Value)
		}
		out += strings.Join(tool.Tool, " ") + ": " + strings.Join(args, " ") + "\n"
	}
	return out
}

// TestKnownIsInTheCatalog checks that the catalog knows every name that is shown.
func TestKnownIsInTheCatalog(t *testing.T) {
	cat, err := shippedOnce()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range toolbook.KnownTo(cat) {
		for _, e := range o.Entries {
			for _, tool := range e.Tools() {
				if p, ok := cat.Lookup(o.Ref(tool)); !ok || p != e {
					t.Errorf("the catalog has another %s of %v", tool, o.Names)
				}
			}
			for _, arg := range e.ArgNames() {
				if _, ok := e.Arg(arg); !ok {
					t.Errorf("the catalog knows no argument %q of %v", arg, e.Tools())
				}
			}
		}
	}
}
