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

	"github.com/floodmark/floodmark/internal/protect"
)

// A Look records how a person's agent was found: the variables for its program and its settings,
// and which hooks of ours are in them. A monitor has other variables than the person. Fields are
// only added.
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

// KeepAll records the results of agents, and how they were found, for the daily check.
func KeepAll(ctx context.Context, path string, m protect.Machine, list []Result) error {
	var names []string
	for _, r := range list {
		if r.Grade != NotProtected && !m.System {
			names = append(names, r.Agent)
		}
	}
	return errors.Join(Keep(path, list), Remember(ctx, path, m, names))
}

// Forget drops agents that are no longer protected: they are not checked.
func Forget(path string, agents []string) error {
	return change(path, func(p *proofs) {
		for _, name := range agents {
			delete(p.Looks, name)
		}
	})
}

// lookOf notes the variables that are looked at on the way.
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
	_ = variables(m) // those of its hooks
	return look, err
}

// machine is what the person had before them, with nothing started.
func (l Look) machine(records string) protect.Machine {
	return protect.Machine{
		Getenv: func(name string) string { return l.Env[name] },
		Still:  true, Records: records, Hook: l.Hook, Socket: l.Socket,
	}
}

// maxProgram bounds how much of a program is read. The largest has 180 MB.
const maxProgram = 1 << 30

// programDigest tells one program from another of the same name; empty for none.
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
