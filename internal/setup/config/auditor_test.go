package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/ask/auditor"
	"github.com/floodmark/floodmark/internal/setup/config"
)

func TestAuditor(t *testing.T) {
	s, err := config.ParseService("service.yaml", []byte(`
auditor:
  endpoint: https://models.example/v1
  kind: anthropic
  model: small
  key: ${FLOODMARK_TEST_AUDITOR_KEY}
  timeout: 8s
  content: true
  budget: {cases: 7, time: 2m}
`))
	if err != nil {
		t.Fatal(err)
	}
	a := *s.Auditor
	if a.Kind != auditor.Anthropic || time.Duration(a.Timeout) != 8*time.Second || a.Local() || !a.ShowsContent() || a.Budget.Cases != 7 || time.Duration(a.Budget.Time) != 2*time.Minute {
		t.Errorf("%+v", a)
	}
	if _, err := a.Open(func() time.Time { return time.Unix(1, 0) }); err != nil {
		t.Errorf("the key is not needed yet: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", s, a, a); strings.Contains(text, "FLOODMARK_TEST") {
		t.Error(text)
	}
	imported, err := config.ParseService("s", []byte("auditor: {endpoint: 'http://127.0.0.1:1/v1', model: fast, timeout: 3000ms}")) // as an import proposes
	if err != nil || imported.Auditor.Model != "fast" || time.Duration(imported.Auditor.Timeout) != 3*time.Second {
		t.Errorf("%+v, %v", imported.Auditor, err)
	}
	if s, err := config.ParseService("s", nil); err != nil || s.Auditor != nil {
		t.Errorf("%+v, %v", s.Auditor, err)
	}
}

// The content that a call would write to files is sent to a model on this machine. It is sent
// elsewhere only if content is set.
func TestAuditorContent(t *testing.T) {
	for text, want := range map[string]bool{
		"endpoint: http://127.0.0.1:11434/v1, model: m":                             true,
		"endpoint: http://127.0.0.1:11434/v1, model: m, content: false":             false,
		"endpoint: https://models.example/v1, model: m, key: k":                     false,
		"endpoint: https://models.example/v1, model: m, key: k, content: true":      true,
		"endpoint: 'https://localhost.models.example/v1', model: m, key: k":         false,
		"endpoint: 'http://[::1]:1/v1', model: m, kind: openai, budget: {cases: 1}": true,
		"endpoint: http://localhost:1, model: m, kind: anthropic, timeout: 30s":     true,
		"endpoint: http://localhost:1, model: m, budget: {cases: 10000, time: 24h}": true,
	} {
		s, err := config.ParseService("s", []byte("auditor: {"+text+"}"))
		if err != nil || s.Auditor.ShowsContent() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAuditorThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"model: m": "auditor: endpoint: is missing (write the service's address",
		"endpoint: http://models.example/v1, model: m, key: k":            "auditor: the auditor's endpoint must be https",
		"endpoint: https://models.example, key: k":                        "auditor: model: is missing",
		"endpoint: https://models.example, model: m":                      "auditor: key: is missing (write ${AUDITOR_KEY}",
		"endpoint: https://models.example, model: m, key: k, kind: x":     `auditor: the auditor's kind is "x"`,
		"endpoint: http://127.0.0.1:1, model: m, timeout: 31s":            "auditor: timeout: at most 30s",
		"endpoint: http://127.0.0.1:1, model: m, timeout: 0s":             `"0s" is no length of time`,
		"endpoint: http://127.0.0.1:1, model: m, timeout: soon":           `"soon" is no length of time (write 5s or 10m)`,
		"endpoint: http://127.0.0.1:1, model: m, budget: {cases: -1}":     "auditor: budget.cases: want 1 to 10000",
		"endpoint: http://127.0.0.1:1, model: m, budget: {cases: 10001}":  "auditor: budget.cases: want 1 to 10000",
		"endpoint: http://127.0.0.1:1, model: m, budget: {time: 24h0m1s}": "auditor: budget.time: at most 24h0m0s",
		"endpoint: http://127.0.0.1:1, model: m, failMode: allow":         "there is no key failMode here",
	} {
		if _, err := config.ParseService("s", []byte("auditor: {"+text+"}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
