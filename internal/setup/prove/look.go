package prove

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/internal/setup/protect"
)

// A Look records how a person's agent was found: the environment variables that lead to its program
// and settings, and which hook and socket we use. The monitor needs the record because its own
// variables are not the person's. Fields are only added.
type Look struct {
	Env    map[string]string `json:"env"`
	Hook   string            `json:"hook"`
	Socket string            `json:"socket"`
}

// Remember records how these agents were found, for the daily check.
func Remember(ctx context.Context, path string, m protect.Machine, agents []string) error {
	looks := map[string]Look{}
	for _, name := range agents {
		look, err := lookOf(ctx, m, name)
		if err != nil {
			return err
		}
		looks[name] = look
	}
	return change(path, func(p *proofs) { maps.Copy(p.Looks, looks) })
}

// KeepAll records the results of agents, and how the protected ones were found, for the daily
// check.
func KeepAll(ctx context.Context, path string, m protect.Machine, list []Result) error {
	var names []string
	for _, r := range list {
		if r.Grade != NotProtected && !m.System {
			names = append(names, r.Agent)
		}
	}
	return errors.Join(Keep(path, list), Remember(ctx, path, m, names))
}

// Forget removes agents that are no longer protected from the daily check.
func Forget(path string, agents []string) error {
	return change(path, func(p *proofs) {
		for _, name := range agents {
			delete(p.Looks, name)
		}
	})
}

// lookOf finds an agent, and records the variables that are read for that.
func lookOf(ctx context.Context, m protect.Machine, agent string) (Look, error) {
	look := Look{Env: map[string]string{}, Hook: m.Hook, Socket: m.Socket}
	getenv := m.Getenv
	m.Still = true
	m.Getenv = func(name string) string {
		v := getenv(name)
		if v != "" {
			look.Env[name] = v
		}
		return v
	}
	_, _, err := m.Find(ctx, agent)
	_ = variables(m) // the variables that its hooks read
	return look, err
}

// machine returns the person's machine as it was recorded. Finding agents on it starts no program.
func (l Look) machine(records string) protect.Machine {
	return protect.Machine{
		Getenv: func(name string) string { return l.Env[name] },
		Still:  true, Records: records, Hook: l.Hook, Socket: l.Socket,
	}
}

// maxProgram bounds the programs that are read. The largest known has 180 MB.
const maxProgram = 1 << 30

// programDigest returns the digest of a program, or "" if path is empty.
func programDigest(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	there, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	f, err := os.Open(there)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxProgram+1))
	if err != nil {
		return "", err
	}
	if n > maxProgram {
		return "", fmt.Errorf("%s is too large to be compared", there)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
