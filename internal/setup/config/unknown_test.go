package config

import (
	"strings"
	"testing"
)

// The error for an unknown key names the key that was probably meant, or all known keys.
func TestUnknownKeys(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\njournl: {}":                          "line 2: there is no key journl here (did you mean journal?)",
		"journal: {keeep: 90d}":                           "there is no key keeep here (did you mean keep?)",
		"listen: [{certificat: x}]":                       "there is no key certificat here (did you mean certificate?)",
		"Tenants: {}":                                     "there is no key Tenants here (did you mean tenants?)",
		"tenants: {acme: {quotas: 1}}":                    "there is no key quotas here (did you mean quota?)",
		"journal: {database: x}":                          "there is no key database here (there are checkpoint, keep, shards, store, witness)",
		"answers: [{" + strings.Repeat("x", 99) + ": 1}]": " here (there are ",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseGateway("mcp.yaml", []byte("severs: {}")); err == nil || !strings.Contains(err.Error(), "(did you mean servers?)") {
		t.Errorf("%v", err)
	}
}
