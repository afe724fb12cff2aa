package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/floodmark/floodmark/catalog"
)

// Guarded says where this installation lies, for the catalog: what touches its
// folders touches the monitor, wherever they are. The usual places are in the
// shipped catalog; these may be others.
func (p Paths) Guarded() (*catalog.File, error) {
	var globs []string
	add := func(place, below string) error {
		full, err := filepath.Abs(place)
		if err != nil {
			return fmt.Errorf("guard %s: %w", place, err)
		}
		globs = append(globs, full+below)
		if behind := followed(full); behind != full {
			globs = append(globs, behind+below)
		}
		return nil
	}
	for _, folder := range []string{
		filepath.Dir(p.Policy), filepath.Dir(p.Journal), p.Keys, filepath.Dir(p.Tokens), p.Witness, filepath.Dir(p.Running),
	} {
		if err := add(folder, "/**"); err != nil {
			return nil, err
		}
	}
	for _, socket := range []string{p.HookSocket, p.OwnerSocket} { // they may lie in anybody's folder
		if err := add(socket, ""); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(map[string]any{"paths": map[string]any{"selfProtected": globs}})
	if err != nil {
		return nil, err
	}
	return catalog.Parse("this installation", text)
}

// followed is a full path without links, as far as it exists.
func followed(full string) string {
	there, err := filepath.EvalSymlinks(full)
	if up := filepath.Dir(full); err != nil && up != full {
		return filepath.Join(followed(up), filepath.Base(full))
	}
	if err != nil {
		return full
	}
	return there
}
