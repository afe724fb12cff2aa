package config

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/journal"
)

func TestTenants(t *testing.T) {
	s, err := ParseService("service.yaml", []byte("version: 1\ntokens: /mnt/t.json\ntenants: {acme: {quota: {events: 5, questions: 7}}, beta: {}}\n"))
	if err != nil || !s.HasTenant("acme") || !s.HasTenant("") || s.HasTenant("ghost") || len(s.TenantNames()) != 2 || s.Tokens != "/mnt/t.json" || s.Tenants["acme"].Quota.Questions != 7 {
		t.Errorf("%+v, %v", s, err)
	}
	longest := strings.Repeat("t", journal.MaxTenantBytes)
	if _, err := ParseService("service.yaml", []byte("tenants: {"+longest+": {}}")); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"tenants: {'': {}}":                      `tenants: "" is no name of a tenant`,
		"tenants: {'a b': {}}":                   `tenants: "a b" is no name of a tenant`,
		"tenants: {" + longest + "t: {}}":        "is no name of a tenant: it has 1 to",
		"tenants: {acme: {quotas: 1}}":           "there is no key quotas here",
		"tenants: {acme: {quota: {events: -1}}}": "tenants.acme.quota.events: -1 is no number",
		"tokens: t.json":                         `tokens: "t.json" is not a full path`,
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
