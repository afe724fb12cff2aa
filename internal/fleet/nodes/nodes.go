// Package nodes finds out how the nodes of a fleet differ in their settings. Each node publishes
// digests of its settings, which reveal nothing, and compares them with the digests of the others.
// No decision depends on them, because anyone who can write to the fleet's database can write any
// digest.
//
// Settings that are not set are left out, so that programs of two versions have the same digest for
// one file. Settings that differ between nodes by their nature (addresses, certificates, paths,
// telemetry, the bot) and secrets are not compared. Different programs are only a note for the
// first hour, because nodes are upgraded one by one.
package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What nodes are compared by, in the words that people use.
const (
	Program = "program" // its version; nodes differ in it during an upgrade
	Policy  = "policy"
	Catalog = "catalog" // what the program ships; see [Node.Version]
	Tokens  = "tokens"
	Keys    = "tenants.keys"
	Keep    = "journal.keep"
	Tenants = "tenants" // these and the rest are sections of service.yaml
	Bundles = "bundles"
	People  = "people"
	Answers = "answers"
	Gates   = "verifier"
	Agents  = "agents"
	Auditor = "auditor"
)

// Whats returns everything that nodes are compared by, in the order of the report.
func Whats() []string {
	return []string{Program, Policy, Catalog, Tokens, Keys, Keep, Tenants, Bundles, People, Answers, Gates, Agents, Auditor}
}

// Limits of what a node publishes.
const (
	MaxBytes   = 4 << 10
	maxName    = 100
	maxVersion = 64
	maxDigest  = 64
	maxDigests = 32
)

// A Node is what a node publishes about itself. Fields are only added.
type Node struct {
	// Name is the name of its machine, for people.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Started is when it began to run, in Unix seconds.
	Started int64 `json:"started"`
	// Runs are its settings.
	Runs map[string]Setting `json:"runs"`
}

// A Setting is the digest of something that nodes should have in common.
type Setting struct {
	Digest string `json:"digest"`
	// Since is when the setting came into force on this node, in Unix seconds.
	Since int64 `json:"since"`
}

// A Heard is what a node published, and how long ago.
type Heard struct {
	ID string // a new one at each start
	Node
	Ago time.Duration
}

// New returns a node that has just started. Characters of its names that cannot be shown are
// replaced.
func New(name, version string, started time.Time) Node {
	name, version = showable(name, maxName), showable(version, maxVersion)
	return Node{Name: name, Version: version, Started: started.Unix(), Runs: map[string]Setting{}}
}

// showable returns a name that can be shown.
func showable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if odd(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
	for len(text) > most {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	if text == "" {
		return "unnamed"
	}
	return text
}

// Write returns the form that [Read] reads.
func (n Node) Write() ([]byte, error) {
	data, err := json.Marshal(n)
	if err == nil {
		_, err = Read(data)
	}
	return data, err
}

var errOdd = errors.New("that is not what a node says of itself")

// Read reads what a node published. It refuses text that cannot be shown to people.
func Read(data []byte) (n Node, err error) {
	if len(data) > MaxBytes {
		return Node{}, fmt.Errorf("%w: %d bytes, at most %d", errOdd, len(data), MaxBytes)
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return Node{}, fmt.Errorf("%w: %w", errOdd, err)
	}
	if n.Name == "" || !shown(n.Name, maxName) || !shown(n.Version, maxVersion) || len(n.Runs) > maxDigests {
		return Node{}, errOdd
	}
	for what, s := range n.Runs {
		if !shown(what, maxDigest) || !shown(s.Digest, maxDigest) {
			return Node{}, errOdd
		}
	}
	return n, nil
}

func odd(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

// shown reports whether a name can be shown on a line. It must have no blanks, so that it cannot
// read like our own words.
func shown(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, odd)
}
