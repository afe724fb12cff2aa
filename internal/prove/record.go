package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Proof is what is kept of a result. Fields are only added.
type Proof struct {
	Version string    `json:"version,omitempty"` // of the agent
	Grade   Grade     `json:"grade"`
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
}

// maxProofs bounds the file of proofs: eight agents in some lines each.
const maxProofs = 1 << 20

// proofsVersion changes when old proofs can no longer be read.
const proofsVersion = 1

type proofs struct {
	V      int              `json:"v"`
	Agents map[string]Proof `json:"agents"`
}

// Proofs reads the last proof of each agent; none if there is no file.
func Proofs(path string) (map[string]Proof, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Proof{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProofs+1))
	if err != nil {
		return nil, err
	}
	var p proofs
	switch err := json.Unmarshal(data, &p); {
	case len(data) > maxProofs:
		return nil, fmt.Errorf("%s is too long", path)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case p.V != proofsVersion || p.Agents == nil:
		return nil, fmt.Errorf("%s was written by another version of floodmark", path)
	}
	return p.Agents, nil
}

// Keep adds results to the proofs in a file, whole or not at all. A file that
// cannot be read is begun anew: only what was just seen counts.
func Keep(path string, list []Result) error {
	all, err := Proofs(path)
	if err != nil {
		all = map[string]Proof{}
	}
	for _, r := range list {
		if r.Grade == NotProtected {
			delete(all, r.Agent)
			continue
		}
		all[r.Agent] = Proof{Version: r.Version, Grade: r.Grade, Why: r.Why, At: r.At}
	}
	data, err := json.Marshal(proofs{proofsVersion, all})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".proofs-") // only its owner may read it
	if err != nil {
		return err
	}
	_, err = fresh.Write(append(data, '\n'))
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}
