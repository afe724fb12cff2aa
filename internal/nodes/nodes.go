// Package nodes finds out where nodes of a fleet are set up differently. Each says
// what it runs by as digests that tell nothing, and compares them with what others
// say. Nothing is decided by it: a program that can write to the fleet's database can
// say anything here.
//
// Settings that are not set do not count, so programs of two versions say the same of one
// file. What is each node's own (addresses, certificates, paths, telemetry, the bot) and
// secrets are not compared. Different programs are a note for an hour, because nodes are
// upgraded one by one.
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

// What nodes are compared by, as people call it.
const (
	Program = "program" // its version; differing is usual for a while
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

// Whats are all of them, in the order in which they are named.
func Whats() []string {
	return []string{Program, Policy, Catalog, Tokens, Keys, Keep, Tenants, Bundles, People, Answers, Gates, Agents, Auditor}
}

// Limits of what a node says.
const (
	MaxBytes   = 4 << 10
	maxName    = 100
	maxVersion = 64
	maxDigest  = 64
	maxDigests = 32
)

// A Node is what one says of itself. Fields are only added.
type Node struct {
	// Name is that of its machine, for people.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Started is when it began to run, in Unix seconds.
	Started int64 `json:"started"`
	// Runs are what it runs by.
	Runs map[string]Setting `json:"runs"`
}

// A Setting is the digest of something that nodes should have in common.
type Setting struct {
	Digest string `json:"digest"`
	// Since is when it came into force there, in Unix seconds.
	Since int64 `json:"since"`
}

// Heard is what was heard of a node, and how long ago.
type Heard struct {
	ID string // its own of each start
	Node
	Ago time.Duration
}

// New is a node that has just begun. What cannot be shown of its names is replaced.
func New(name, version string, started time.Time) Node {
	name, version = showable(name, maxName), showable(version, maxVersion)
	return Node{Name: name, Version: version, Started: started.Unix(), Runs: map[string]Setting{}}
}

// showable is a name that can be shown.
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

// Write is the form in which others read it.
func (n Node) Write() ([]byte, error) {
	data, err := json.Marshal(n)
	if err == nil {
		_, err = Read(data)
	}
	return data, err
}

var errOdd = errors.New("that is not what a node says of itself")

// Read reads what a node says of itself. What cannot be shown to people is refused.
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

// shown reports whether a name can be shown on a line. It has no blanks, so that it
// does not read like our own words.
func shown(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, odd)
}
