package policy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/policy/policyfile"
)

const schemaFile = "../docs/reference/policy.schema.json"

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(policyfile.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The published file is what the program says.
func TestSchemaFile(t *testing.T) {
	if *update {
		if err := os.MkdirAll(filepath.Dir(schemaFile), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, schemaFile, string(policyfile.Schema()))
}

func TestSchemaAcceptsGoodPolicies(t *testing.T) {
	s := compiledSchema(t)
	for _, path := range files(t, "testdata/good/*.yaml") {
		if err := s.Validate(instance(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What only the reader can know: YAML itself, CEL, names, places, and whether
// a file is a project's.
func beyondSchema() []string {
	return []string{
		"anchor", "cel-", "control", "duplicate-", "key-list", "log-full-context", "merge", "not-text", "override-empty", "override-star",
		"project-", "quiet-never", "quiet-zone", "rule-does-nothing", "rule-other-tools", "rule-twice", "several-documents", "source-both", "source-hosts", "source-paths",
		"source-strangers", "source-suffix", "source-url", "standing-backwards", "standing-long", "standing-twice", "standing-wild", "syntax-", "tab", "tag", "tool-unknown-key", "ttl-long", "two-chat", "two-nameless", "two-nobody", "two-one", "two-same", "verifier-both-", "verifier-twice",
		"workspace-wide",
	}
}

func TestSchemaRejectsWrongPolicies(t *testing.T) {
	s := compiledSchema(t)
	rejected := 0
	for _, path := range files(t, "testdata/wrong/*.yaml") {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if slices.ContainsFunc(beyondSchema(), func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		if err := s.Validate(instance(t, path)); err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
		rejected++
	}
	if rejected < 30 {
		t.Errorf("only %d wrong policies were tried", rejected)
	}
}

// instance reads YAML as a JSON value, as editors do.
func instance(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}
