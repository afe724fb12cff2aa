// Command release writes the notices of a release: each module that is part of a program we ship,
// with its licence in full. It refuses a module without a licence, or with a licence that is not on
// our list. The module of this command also pins goreleaser and cyclonedx-gomod.
//
//	go -C tools/release run . FILE
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// root is the repository, relative to this folder.
const root = "../.."

// targets returns the systems and machines that we ship for, the same as in .goreleaser.yaml.
func targets() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}
}

// A module is a module that is part of a program we ship.
type module struct {
	path, version, dir string
	licence            string
	texts              []string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go -C tools/release run . FILE")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	all := map[string]module{}
	for _, t := range targets() {
		if err := collect(ctx, t, all); err != nil {
			return err
		}
	}
	list, err := licensed(slices.SortedFunc(maps.Values(all), func(a, b module) int { return cmp.Compare(a.path, b.path) }))
	if err != nil {
		return err
	}
	goRoot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find Go's own licence: %w", err)
	}
	others, err := licensed([]module{
		{path: "the standard library of Go", dir: strings.TrimSpace(string(goRoot))},
		{path: "rules that find secrets, of gitleaks", dir: filepath.Join(root, "internal", "secret", "redact")},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(notice(append(others, list...))), 0o644)
}

// collect adds the modules that are built for one target.
func collect(ctx context.Context, target string, all map[string]module) error {
	system, machine, _ := strings.Cut(target, "/")
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}",
		"./cmd/floodmark", "./cmd/floodmark-hook", "./cmd/floodmark-box")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list what is built for %s: %w %s", target, err, said.String())
	}
	for line := range strings.Lines(string(out)) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) == 3 {
			all[parts[0]] = module{path: parts[0], version: parts[1], dir: parts[2]}
		}
	}
	return nil
}

// licensed reads the licences of all modules. The error lists everything that is wrong.
func licensed(list []module) ([]module, error) {
	var problems []error
	for i, m := range list {
		got, err := read(m)
		if err != nil {
			problems = append(problems, err)
		}
		list[i] = got
	}
	return list, errors.Join(problems...)
}

// read reads every file of a module that is about rights.
func read(m module) (module, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return m, fmt.Errorf("%s: %w", m.path, err)
	}
	for _, e := range entries {
		if e.IsDir() || !regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`).MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return m, fmt.Errorf("%s: %w", m.path, err)
		}
		m.texts = append(m.texts, strings.TrimSpace(string(text)))
		m.licence = cmp.Or(m.licence, kind(string(text)))
	}
	switch {
	case len(m.texts) == 0:
		return m, fmt.Errorf("%s has no licence", m.path)
	case m.licence == "":
		return m, fmt.Errorf("%s has a licence nobody here has agreed to", m.path)
	}
	return m, nil
}

// kind returns the short name of a licence that we may ship under, recognized by a sentence that
// only this licence has; empty for any other.
func kind(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, k := range []struct{ name, has string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"BSD-3-Clause", "may be used to endorse or promote products derived from this software without specific prior written permission"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	} {
		if strings.Contains(text, k.has) {
			return k.name
		}
	}
	return ""
}

// notice returns the whole text: a table, then each licence in full.
func notice(list []module) string {
	var b strings.Builder
	b.WriteString("Floodmark is licensed under Apache-2.0 (LICENSE). Its programs contain:\n\n")
	for _, m := range list {
		fmt.Fprintf(&b, "  %-62s %s\n", strings.TrimSpace(m.path+" "+m.version), m.licence)
	}
	for _, m := range list {
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 78), strings.TrimSpace(m.path+" "+m.version))
		for _, text := range m.texts {
			fmt.Fprintf(&b, "%s\n%s\n", strings.Repeat("-", 78), text)
		}
	}
	return b.String()
}
