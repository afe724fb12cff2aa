// Package sarif writes SARIF 2.1.0, the form in which checkers tell code hosts what they
// found. Only what floodmark uses of it is here.
package sarif

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark"
)

// Stdin is the file name that stands for standard input.
const Stdin = "-"

// A Log is what a checker found, ready to be written as JSON.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool       tool       `json:"tool"`
	Artifacts  []artifact `json:"artifacts"`
	Results    []result   `json:"results"`
	ColumnKind string     `json:"columnKind"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	InformationURI string `json:"informationUri"`
	Rules          []rule `json:"rules"`
}

type rule struct {
	ID string `json:"id"`
}

type artifact struct {
	Location uri `json:"location"`
}

type result struct {
	RuleID    string     `json:"ruleId"`
	RuleIndex int        `json:"ruleIndex"`
	Level     string     `json:"level"`
	Message   message    `json:"message"`
	Locations []location `json:"locations"`
}

type message struct {
	Text string `json:"text"`
}

type location struct {
	Physical physical `json:"physicalLocation"`
}

type physical struct {
	Artifact uri     `json:"artifactLocation"`
	Region   *region `json:"region,omitempty"`
}

type uri struct {
	URI   string `json:"uri"`
	Index *int   `json:"index,omitempty"`
}

type region struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// New returns the log of the problems that a version of floodmark found in files.
func New(files []string, problems floodmark.Problems, version string) Log {
	found := run{
		Tool: tool{Driver: driver{
			Name: "floodmark", Version: version,
			InformationURI: "https://github.com/floodmark/floodmark", Rules: []rule{},
		}},
		Artifacts: []artifact{}, Results: []result{}, ColumnKind: "unicodeCodePoints",
	}
	for _, f := range files {
		found.Artifacts = append(found.Artifacts, artifact{Location: uri{URI: fileURI(f)}})
	}
	for _, p := range problems {
		named := rule{ID: cmp.Or(p.Code, "policy")}
		index := slices.Index(found.Tool.Driver.Rules, named)
		if index < 0 {
			index = len(found.Tool.Driver.Rules)
			found.Tool.Driver.Rules = append(found.Tool.Driver.Rules, named)
		}
		found.Results = append(found.Results, result{
			RuleID: named.ID, RuleIndex: index, Level: level(p.Severity),
			Message: message{Text: text(p)}, Locations: []location{place(p, files)},
		})
	}
	return Log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{found}}
}

func level(s floodmark.Severity) string {
	if s == floodmark.Warning {
		return "warning"
	}
	return "error"
}

func text(p floodmark.Problem) string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + " (" + p.Hint + ")"
}

func place(p floodmark.Problem, files []string) location {
	at := physical{Artifact: uri{URI: fileURI(p.File)}}
	if i := slices.Index(files, p.File); i >= 0 {
		at.Artifact.Index = &i
	}
	if p.Line > 0 {
		at.Region = &region{StartLine: p.Line, StartColumn: max(p.Column, 0)}
	}
	return location{Physical: at}
}

// fileURI returns a file's name as SARIF writes it. Relative names stay relative, so that a code
// host finds the files in the repository.
func fileURI(name string) string {
	if name == Stdin {
		return "stdin"
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(name))}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
