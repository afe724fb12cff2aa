package config_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/config"
)

func TestPackages(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "https://registry.npmjs.org",
		"packages: {}\n":          "https://registry.npmjs.org",
		"packages: {off: true}\n": "",
		"packages: {npm: https://npm.example/all}\n": "https://npm.example/all",
	} {
		s, err := config.ParseService("service.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		r := s.Registries()
		if (r == nil) != (want == "") || r != nil && (r.Npm != want || r.Go != "https://proxy.golang.org") {
			t.Errorf("%q: %+v", text, r)
		}
	}
	s, err := config.ParseService("service.yaml", []byte("packages: {hosts: [files.example], private: [git.corp.example]}\n"))
	if r := s.Registries(); err != nil || !strings.Contains(strings.Join(r.Hosts, " "), "files.pythonhosted.org") || r.Hosts[len(r.Hosts)-1] != "files.example" || r.Private[0] != "git.corp.example" {
		t.Errorf("%v %+v", err, r)
	}
	for _, text := range []string{
		"packages: {npm: http://npm.example}", "packages: {go: https://127.0.0.1}", "packages: {pypi: https://me:secret@pypi.example}", "packages: {hosts: [localhost]}",
		"packages: {hosts: [\"*.example\"]}", "packages: {cargo: https://crates.example}", "packages: {npm: \"https://npm.example?x=1\"}", "packages: {private: [" + strings.Repeat("a,", 65) + "]}",
	} {
		if _, err := config.ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "packages") && !strings.Contains(err.Error(), "cargo") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
