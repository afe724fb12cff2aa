package config

import (
	"strings"
	"testing"
	"time"
)

const peopleHead = `listen: [{address: "0.0.0.0:7443", certificate: a, key: b}]
tenants: {acme: {}}
`

func TestPeople(t *testing.T) {
	s, err := ParseService("service.yaml", []byte(peopleHead+`people:
  issuer: https://login.firm.example
  clientId: floodmark
  tenantClaim: org
  maxAge: 8h
  roles: {viewer: [engineering], approver: [oncall], policyAuthor: [security], admin: [platform]}
`))
	if err != nil || s.People.Roles.PolicyAuthor[0] != "security" || time.Duration(s.People.MaxAge) != 8*time.Hour {
		t.Errorf("%+v, %v", s.People, err)
	}
	// The empty tenant is used if it is written.
	if s, err := ParseService("service.yaml", []byte(peopleHead+`people: {issuer: "https://l.example", clientId: f, tenant: "", roles: {viewer: [a]}}`)); err != nil || *s.People.Tenant != "" {
		t.Errorf("%+v, %v", s.People, err)
	}
	for text, want := range map[string]string{
		`people: {issuer: "https://l.example", clientId: f, tenant: "", roles: {viewer: [a]}}`:                                "name a network door under listen",
		peopleHead + `people: {issuer: "http://l.example", clientId: f, tenant: acme, roles: {viewer: [a]}}`:                  "is no https:// address",
		peopleHead + `people: {issuer: "https://l.example", tenant: acme, roles: {viewer: [a]}}`:                              "people.clientId: is missing",
		peopleHead + `people: {issuer: "https://l.example", clientId: f, roles: {viewer: [a]}}`:                               "write either tenant",
		peopleHead + `people: {issuer: "https://l.example", clientId: f, tenant: acme, tenantClaim: o, roles: {viewer: [a]}}`: "write either tenant",
		peopleHead + `people: {issuer: "https://l.example", clientId: f, tenant: ghost, roles: {viewer: [a]}}`:                `"ghost" is not under tenants`,
		peopleHead + `people: {issuer: "https://l.example", clientId: f, tenant: acme}`:                                       "people.roles: name 1 to",
		peopleHead + `people: {issuer: "https://l.example", clientId: f, tenant: acme, roles: {owner: [a]}}`:                  "there is no key owner here",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
