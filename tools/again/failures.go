package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A failure is a test, or a part of one, that failed.
type failure struct{ pkg, test string }

// pattern is what -run wants to hear for it alone.
func (f failure) pattern() string {
	parts := strings.Split(f.test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// Proofs: what is lost, forked or told to the wrong one once in a hundred runs is
// lost. So these packages have one chance, and laws, fuzz targets and everything
// that the race detector or a panic says.
var proofs = []string{"journal", "internal/sqlitejournal", "internal/postgresjournal", "internal/soak", "internal/fleetcheck", "internal/protection"}

// module is what the names of our packages begin with.
const module = "github.com/floodmark/floodmark/"

var (
	failLine = regexp.MustCompile(`^\s*--- FAIL: (\S+) \(`)
	pkgLine  = regexp.MustCompile(`^FAIL\t(\S+)(.*)`)
)

// failures finds what failed in the output of «go test»; why says that it cannot be
// excused.
func failures(out string) (list []failure, why string) {
	var tests []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if why := grave(line); why != "" {
			return nil, why
		}
		if m := failLine.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1])
		}
		m := pkgLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		leaves := leaves(tests)
		tests = nil
		if len(leaves) == 0 || strings.Contains(m[2], "[") {
			return nil, m[1] + " failed without a test that did"
		}
		for _, t := range leaves {
			if why := proof(m[1], t); why != "" {
				return nil, why
			}
			list = append(list, failure{m[1], t})
		}
	}
	switch {
	case len(list) == 0 || len(tests) > 0:
		return nil, "what failed is not clear"
	case len(list) > most:
		return nil, fmt.Sprintf("%d tests failed", len(list))
	}
	return list, ""
}

// grave finds what is never chance.
func grave(line string) string {
	for _, sign := range []string{"WARNING: DATA RACE", "[rapid] failed", "[rapid] panic", "fatal error:"} {
		if strings.Contains(line, sign) {
			return sign
		}
	}
	if strings.HasPrefix(strings.TrimSpace(line), "panic: ") {
		return "a panic"
	}
	return ""
}

func proof(pkg, test string) string {
	for _, p := range proofs {
		if strings.TrimPrefix(pkg, module) == p || strings.HasPrefix(pkg, module+p+"/") {
			return p + " proves something"
		}
	}
	if !strings.HasPrefix(test, "Test") || strings.Contains(test, "Law") {
		return test + " proves something"
	}
	return ""
}

// leaves leaves out each test of which a part failed.
func leaves(tests []string) []string {
	var list []string
	for _, t := range tests {
		part := false
		for _, other := range tests {
			part = part || strings.HasPrefix(other, t+"/")
		}
		if !part {
			list = append(list, t)
		}
	}
	return list
}
