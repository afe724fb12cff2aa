package config

import (
	"strings"
	"testing"
	"time"
)

const consoleHead = peopleHead + `people: {issuer: "https://l.example", clientId: f, tenant: acme, roles: {viewer: [a]}}
`

func TestConsole(t *testing.T) {
	s, err := ParseService("service.yaml", []byte(consoleHead+`console:
  url: https://Console.firm.example:443
  listen: {address: "0.0.0.0:7444", certificate: a, key: b}
  clientId: floodmark-console
  clientSecret: ${CONSOLE_SECRET}
  maxAge: 8h
  passwordAge: 10m
`))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Console
	if c.Origin() != "https://console.firm.example" || c.Redirect() != "https://console.firm.example/" || c.ClientID != "floodmark-console" || time.Duration(c.MaxAge) != 8*time.Hour || c.ClientSecret.String() != hidden || time.Duration(c.PasswordAge) != 10*time.Minute {
		t.Errorf("%+v", c)
	}
	listen := `listen: {address: "0.0.0.0:7444", certificate: a, key: b}`
	for _, url := range []string{"https://c.example", "https://c.example/", "https://c.example:7444", "https://10.0.0.7:7444", "https://[::1]:7444"} {
		if _, err := ParseService("service.yaml", []byte(consoleHead+`console: {url: "`+url+`", `+listen+`}`)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"", "c.example", "http://c.example", "https://", "https://c.example/console", "https://c.example?a", "https://c.example#a", "https://me@c.example", "https://c.example//", "javascript:1"} {
		if _, err := ParseService("service.yaml", []byte(consoleHead+`console: {url: "`+url+`", `+listen+`}`)); err == nil || !strings.Contains(err.Error(), "console.url") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for text, want := range map[string]string{
		peopleHead + `console: {url: "https://c.example", ` + listen + `}`:                                                "under people",
		consoleHead + `console: {url: "https://c.example"}`:                                                               "is not host:port",
		consoleHead + `console: {url: "https://c.example", listen: {address: "0.0.0.0:1"}}`:                               "certificate and key",
		consoleHead + `console: {url: "https://c.example", listen: {address: ":1", certificate: a, key: b, clientCA: c}}`: "clientCA",
		consoleHead + `console: {url: "https://c.example", ` + listen + `, maxAge: 25h}`:                                  "at most 24 hours",
		consoleHead + `console: {url: "https://c.example", ` + listen + `, passwordAge: 59s}`:                             "at least 1m0s",
		consoleHead + `console: {url: "https://c.example", ` + listen + `, oidc: {}}`:                                     "there is no key oidc here",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
