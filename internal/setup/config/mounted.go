package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/journal"
)

// The files of a mounted folder of keys, for example a mounted Kubernetes Secret.
const (
	mountedIndex   = "index.key"    // 32 bytes
	mountedJournal = "journal.key"  // as «floodmark serve» makes it
	mountedTenants = "tenants.keys" // optional: lines for tenants with keys of their own
)

const (
	maxKeyBytes        = 4 << 10
	maxTenantKeysBytes = 1 << 20
)

// KeysOf returns the keys of an installation. If service.yaml names a folder, the keys are read
// from it and never made. Otherwise they are in the installation's own folder.
func KeysOf(s Service, p Paths, name string) (Keys, error) {
	if s.Keys == "" {
		return LoadKeys(p.Keys, name)
	}
	return loadMounted(s.Keys)
}

// loadMounted reads keys that the operator mounts, the same on all nodes of a fleet. Links may lead
// only to other files of the folder.
func loadMounted(dir string) (Keys, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Keys{}, fmt.Errorf("open the folder of keys: %w", err)
	}
	defer root.Close()
	var k Keys
	index, err := mountedFile(root, mountedIndex, maxKeyBytes)
	if err != nil {
		return Keys{}, err
	}
	if len(index) != len(k.Index) {
		return Keys{}, fmt.Errorf("%s: %d bytes, want %d", filepath.Join(dir, mountedIndex), len(index), len(k.Index))
	}
	copy(k.Index[:], index)
	secret, err := mountedFile(root, mountedJournal, maxKeyBytes)
	if err != nil {
		return Keys{}, err
	}
	if k.Signing, err = journal.ParseKey(string(secret)); err != nil {
		return Keys{}, fmt.Errorf("%s: %w", filepath.Join(dir, mountedJournal), err)
	}
	own, err := mountedFile(root, mountedTenants, maxTenantKeysBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		k.Tenants, err = parseTenantKeys(string(own))
	}
	if err != nil {
		return Keys{}, fmt.Errorf("%s: %w", filepath.Join(dir, mountedTenants), err)
	}
	return k, nil
}

// mountedFile reads a file that other users cannot read, and only its owner can write.
func mountedFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (the keys of a fleet are not made up: copy those of another node)", filepath.Join(root.Name(), name), fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a plain file", f.Name())
	case info.Mode().Perm()&0o027 != 0:
		return nil, fmt.Errorf("%s: others can read it, or its group write it (mount it with defaultMode: 0440)", f.Name())
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", f.Name(), limit)
	}
	return data, err
}
