package box

import (
	"slices"
	"strings"
	"testing"
)

func TestSpec(t *testing.T) {
	const good = `"project":"/home/o/p","home":"/home/o","folder":"/home/o/.state/box","temp":"/home/o/.state/tmp"`
	for text, want := range map[string]string{
		"{" + good + "}":                                                  "",
		"{}":                                                              "no whole path",
		"{" + good + `,"more":1}`:                                         "unknown field",
		"{" + good + `,"hidden":["../x"]}`:                                "does not lie in the project",
		"{" + good + `,"hidden":["."]}`:                                   "does not lie in the project",
		"{" + good + `,"secret":["**/.env"]}`:                             "",
		"{" + good + `,"secret":[".env"]}`:                                "look for secrets",
		"{" + good + `,"secret":["**/a/**"]}`:                             "look for secrets",
		"{" + good + `,"processes":-1}`:                                   "negative",
		"{" + good + `,"cache":"cache"}`:                                  "no whole path",
		"{" + good + `,"git":"/home/o/main/.git"}`:                        "",
		"{" + good + `,"git":"main/.git"}`:                                "no whole path",
		"{" + good + `,"git":"/home/o/p/.git"}`:                           "in each other",
		"{" + good + `,"git":"/home/o"}`:                                  "in each other",
		"{" + good + `,"git":"/home/o/.state/box/g"}`:                     "in each other",
		"{" + good + `,"temp":"/home/o/p/t"}`:                             "in each other",
		"{" + good + `,"folder":"/home/o/.state/tmp/b"}`:                  "in each other",
		`{"project":"/home","home":"/home/o","folder":"/x"}`:              "whole home",
		`{"project":"/home/o/p","home":"/home/o","folder":"/"}`:           "no whole path",
		`{"project":"/p/../q","home":"/home/o","folder":"/x"}`:            "no whole path",
		`{"project":"/home/o/p","home":"/home/o","folder":"/home/o/p/b"}`: "in each other",
		"{" + strings.Repeat(" ", maxSpec) + "}":                          "too long",
	} {
		_, err := ReadSpec(strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

// Only listed variables of the environment are left.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "LC_ALL=C", "API_KEY=secret", "SSH_AUTH_SOCK=/x", "http_proxy=http://x", "LD_PRELOAD=x", "GOPROXY=https://user:pass@x", "PATHX=y"})
	if !slices.Contains(got, "PATH=/bin") || !slices.Contains(got, "LC_ALL=C") || !slices.Contains(got, "GOPROXY=off") {
		t.Errorf("%q", got)
	}
	for _, v := range got {
		if name, _, _ := strings.Cut(v, "="); slices.Contains([]string{"API_KEY", "SSH_AUTH_SOCK", "http_proxy", "LD_PRELOAD", "PATHX"}, name) || strings.Contains(v, "pass") {
			t.Errorf("%s is left", v)
		}
	}
}
