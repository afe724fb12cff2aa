package protection_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/lab/protection"
)

// A suite is one benchmark's tools, and the texts the catalog must not know.
type suite struct {
	Source string `json:"src"`
	Suite  string `json:"suite"`
	Tools  []struct {
		Name   string `json:"name"`
		Schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"parameters"`
	} `json:"tools"`
	UserTasks        json.RawMessage `json:"user_tasks"`
	InjectionTasks   json.RawMessage `json:"injection_tasks"`
	InjectionVectors json.RawMessage `json:"injection_vectors"`
}

func suites(t *testing.T) []suite {
	t.Helper()
	var all []suite
	readJSON(t, "suites.json.gz", &all)
	return all
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join(dataFolder(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func suiteCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	files, err := protection.SuiteFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if w := f.Warnings(); len(w) > 0 {
			t.Errorf("%v", w)
		}
	}
	return catalog.New(files, nil)
}

// Every tool of every suite has a profile that knows all its arguments, and
// there is no profile for a tool that no suite has.
func TestCatalogCoversTheSuites(t *testing.T) {
	c := suiteCatalog(t)
	offered := map[string]bool{}
	for _, s := range suites(t) {
		server := s.Source + "-" + s.Suite
		for _, tool := range s.Tools {
			offered[server+"/"+tool.Name] = true
			p, ok := c.Lookup(floodmark.ToolRef{Server: server, Name: tool.Name})
			if !ok {
				t.Errorf("%s/%s has no profile", server, tool.Name)
				continue
			}
			for _, arg := range slices.Sorted(maps.Keys(tool.Schema.Properties)) {
				if _, ok := p.Arg(arg); !ok {
					t.Errorf("%s/%s: argument %s is not described", server, tool.Name, arg)
				}
			}
		}
	}
	files, err := protection.SuiteFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, p := range f.Profiles() {
			for _, server := range p.Servers() {
				for _, tool := range p.Tools() {
					if !offered[server+"/"+tool] {
						t.Errorf("%s: no suite offers %s/%s", f.Name(), server, tool)
					}
				}
			}
		}
	}
}

// Whatever reaches other people or services is not the owner's own.
func TestCatalogSendsAreNotOwn(t *testing.T) {
	files, err := protection.SuiteFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, p := range f.Profiles() {
			if p.Own() && slices.Contains(p.Effects(), floodmark.Send) {
				t.Errorf("%s: %v sends and is called own", f.Name(), p.Tools())
			}
		}
	}
}
