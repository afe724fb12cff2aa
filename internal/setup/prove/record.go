package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Proof is the stored part of a result. Fields are only added.
type Proof struct {
	Version string    `json:"version,omitempty"` // of the agent
	Grade   Grade     `json:"grade"`
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
	// Program is the digest of the agent's program, or empty if it was not read.
	Program string `json:"program,omitempty"`
	// Rewrites is set if this version ran the command that it got in place of its own.
	Rewrites bool `json:"rewrites,omitempty"`
}

// maxProofs bounds the file of proofs: there are eight agents with a few lines each.
const maxProofs = 1 << 20

// proofsVersion changes when old proofs can no longer be read.
const proofsVersion = 1

type proofs struct {
	V      int              `json:"v"`
	Agents map[string]Proof `json:"agents"`
	// Looks record how the protected agents were found last.
	Looks map[string]Look `json:"looks,omitempty"`
	// Box is the box that was seen to hold, or nil.
	Box *boxProof `json:"box,omitempty"`
}

// A boxProof says which program made a box that held, and on which kernel. With another program or
// kernel, it may not hold.
type boxProof struct {
	Program string    `json:"program"` // its digest
	Kernel  string    `json:"kernel"`
	At      time.Time `json:"at"`
}

// kernelRelease returns the version of the running kernel; empty if unknown.
func kernelRelease() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Proofs reads the last proof of each agent. There are none if there is no file.
func Proofs(path string) (map[string]Proof, error) {
	p, err := readProofs(path)
	return p.Agents, err
}

func readProofs(path string) (proofs, error) {
	var p proofs
	there, err := readJSON(path, &p)
	switch {
	case err != nil:
		return proofs{}, err
	case !there:
		p = noProofs()
	case p.V != proofsVersion || p.Agents == nil:
		return proofs{}, fmt.Errorf("%s was written by another version of floodmark", path)
	}
	if p.Looks == nil {
		p.Looks = map[string]Look{}
	}
	return p, nil
}

func noProofs() proofs {
	return proofs{V: proofsVersion, Agents: map[string]Proof{}, Looks: map[string]Look{}}
}

// change changes the file of proofs. If the file cannot be read, it starts with no proofs.
func change(path string, how func(*proofs)) error {
	p, err := readProofs(path)
	if err != nil {
		p = noProofs()
	}
	how(&p)
	return writeJSON(path, p)
}

// Keep adds results to the proofs in a file. The file is replaced atomically.
func Keep(path string, list []Result) error {
	return change(path, func(p *proofs) {
		for _, r := range list {
			if r.Grade == NotProtected {
				delete(p.Agents, r.Agent)
				continue
			}
			p.Agents[r.Agent] = Proof{Version: r.Version, Grade: r.Grade, Why: r.Why, At: r.At, Program: r.program, Rewrites: r.Rewrites}
		}
	})
}

// readJSON reads a small file. It returns false if there is no file.
func readJSON(path string, v any) (there bool, err error) {
	data, err := wholefile.Read(path, maxProofs)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}

// writeJSON replaces a file atomically. Only its owner may read it.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(path, append(data, '\n'), 0o600)
}
