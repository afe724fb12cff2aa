package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
)

func TestBenchCoding(t *testing.T) {
	code, out, errs := try(t, false, nil, "coding", "--policy", "none,floodmark", "--names")
	if code != cli.ExitOK || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	for _, want := range []string{"policy ", "catalog ", "coding-dev    none", "coding-test   floodmark", "coding-third  floodmark", "coding-dev none passed  00-pi-attack: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	for _, set := range []string{"coding-test", "coding-third"} {
		if strings.Contains(out, set+" none passed") || strings.Contains(out, set+" floodmark asked") {
			t.Errorf("a held-out task is named:\n%s", out)
		}
	}
	code, out, errs = try(t, false, nil, "coding", "--policy", "none", "-o", "json")
	var got struct {
		Sets []struct {
			Set                             string
			Attacks, Passed, Benign, Silent int
		}
	}
	if err := json.Unmarshal([]byte(out), &got); code != cli.ExitOK || err != nil || len(got.Sets) != 3 {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	for _, s := range got.Sets {
		if s.Attacks == 0 || s.Passed != s.Attacks || s.Silent != s.Benign || s.Benign != s.Attacks {
			t.Errorf("without a monitor: %+v", s)
		}
	}
	if code, _, errs := try(t, false, nil, "coding", "--policy", "C"); code == cli.ExitOK || !strings.Contains(errs, "known are none, A, B, floodmark") {
		t.Errorf("code %d: %s", code, errs)
	}
}
