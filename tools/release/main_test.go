package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLicencesNobodyAgreedToAreRefused(t *testing.T) {
	const (
		mit  = "Permission is hereby granted, free of charge, to any person obtaining\na copy of this software"
		agpl = "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007"
	)
	for name, c := range map[string]struct{ file, text, want string }{
		"a known one":           {"LICENSE", mit, ""},
		"known, spelled so":     {"LICENCE.md", mit, ""},
		"one nobody agreed to":  {"LICENSE", agpl, "nobody here has agreed to"},
		"none":                  {"README", mit, "has no licence"},
		"one that says nothing": {"COPYING", "", "nobody here has agreed to"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			list, err := licensed([]module{{path: "news.example/m", version: "v1.2.3", dir: dir}})
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%v, want %q", err, c.want)
			case c.want == "":
				if text := notice(list); !strings.Contains(text, "news.example/m v1.2.3") || !strings.Contains(text, mit) || !strings.Contains(text, " MIT\n") {
					t.Errorf("it says\n%s", text)
				}
			}
		})
	}
}
