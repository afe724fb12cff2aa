package config

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// Keys are the secrets of one installation.
type Keys struct {
	// Index is the key of the index of values. It also proves approval codes.
	Index provenance.Key
	// Signing signs the journal's heads and tombstones.
	Signing journal.Key
	// Tenants are the tenants with index keys of their own. The keys of other tenants are derived
	// from Index.
	Tenants map[string]TenantKeys
	// New says that the keys were made by this call.
	New bool
}

// LoadKeys reads the keys in a folder, and makes missing ones. It refuses keys that others can
// read. name is the name of the log of heads, for a new signing key.
func LoadKeys(dir, name string) (Keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Keys{}, fmt.Errorf("make the folder of keys: %w", err)
	}
	var k Keys
	index, isNew, err := keyFile(filepath.Join(dir, "index.key"), func() ([]byte, error) {
		var b provenance.Key
		rand.Read(b[:]) // rand.Read never fails: it ends the program instead
		return b[:], nil
	})
	if err != nil {
		return Keys{}, err
	}
	if len(index) != len(k.Index) {
		return Keys{}, fmt.Errorf("%s: %d bytes, want %d (restore it from a backup: without it nothing seen before is recognised)",
			filepath.Join(dir, "index.key"), len(index), len(k.Index))
	}
	copy(k.Index[:], index)
	k.New = isNew
	secret, _, err := keyFile(filepath.Join(dir, "journal.key"), func() ([]byte, error) {
		secret, _, err := journal.NewKey(rand.Reader, name)
		return []byte(secret + "\n"), err
	})
	if err != nil {
		return Keys{}, err
	}
	if k.Signing, err = journal.ParseKey(string(secret)); err != nil {
		return Keys{}, fmt.Errorf("%s: %w", filepath.Join(dir, "journal.key"), err)
	}
	return k, nil
}

// keyFile reads a key, or makes one and writes it to disk before it is used.
func keyFile(file string, fresh func() ([]byte, error)) (data []byte, isNew bool, err error) {
	info, err := os.Lstat(file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s: not a plain file", file)
	case err == nil && info.Mode().Perm()&0o077 != 0:
		return nil, false, fmt.Errorf("%s: others can read it (chmod 600 %s)", file, file)
	case err == nil:
		data, err = readFile(file, 4096)
		return data, false, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, err
	}
	if data, err = fresh(); err != nil {
		return nil, false, err
	}
	return data, true, writeKey(file, data)
}

func writeKey(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".key-*")
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), file) // never over an existing key
	}
	return errors.Join(err, os.Remove(f.Name()), wholefile.SyncFolder(filepath.Dir(file)))
}
