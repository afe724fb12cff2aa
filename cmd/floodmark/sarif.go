package main

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark"
)

// This file writes SARIF 2.1.0, the form in which checkers tell code hosts
// what they found. Only what we use of it is here.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool       `json:"tool"`
	Artifacts  []sarifArtifact `json:"artifacts"`
	Results    []sarifResult   `json:"results"`
	ColumnKind string          `json:"columnKind"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifArtifact struct {
	Location sarifURI `json:"location"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifURI     `json:"artifactLocation"`
	Region   *sarifRegion `json:"region,omitempty"`
}

type sarifURI struct {
	URI   string `json:"uri"`
	Index *int   `json:"index,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// newSARIF turns what was found into a log.
func newSARIF(ch checked, version string) sarifLog {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "floodmark", Version: version,
			InformationURI: "https://github.com/floodmark/floodmark", Rules: []sarifRule{},
		}},
		Artifacts: []sarifArtifact{}, Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	for _, f := range ch.files {
		run.Artifacts = append(run.Artifacts, sarifArtifact{Location: sarifURI{URI: fileURI(f)}})
	}
	for _, p := range ch.problems {
		rule := sarifRule{ID: cmp.Or(p.Code, "policy")}
		index := slices.Index(run.Tool.Driver.Rules, rule)
		if index < 0 {
			index = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: rule.ID, RuleIndex: index, Level: sarifLevel(p.Severity),
			Message: sarifMessage{Text: sarifText(p)}, Locations: []sarifLocation{sarifPlace(p, ch.files)},
		})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifLevel(s floodmark.Severity) string {
	if s == floodmark.Warning {
		return "warning"
	}
	return "error"
}

func sarifText(p floodmark.Problem) string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + " (" + p.Hint + ")"
}

func sarifPlace(p floodmark.Problem, files []string) sarifLocation {
	at := sarifPhysical{Artifact: sarifURI{URI: fileURI(p.File)}}
	if i := slices.Index(files, p.File); i >= 0 {
		at.Artifact.Index = &i
	}
	if p.Line > 0 {
		at.Region = &sarifRegion{StartLine: p.Line, StartColumn: max(p.Column, 0)}
	}
	return sarifLocation{Physical: at}
}

// fileURI is a file's name as SARIF writes it: relative names stay relative, so
// that a code host finds them in the repository.
func fileURI(name string) string {
	if name == stdinName {
		return "stdin"
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(name))}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
