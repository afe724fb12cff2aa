package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Folder is a store in the files of one machine. Each tenant has a folder in it.
type Folder struct{ dir string }

var _ Store = (*Folder)(nil)

// NewFolder returns the store in a folder, which the first write creates.
func NewFolder(dir string) *Folder { return &Folder{dir: dir} }

// A file's name is one of these kinds and a number.
const (
	bundleFile  = "bundle-"
	rolloutFile = "rollout-"
)

// Publish implements [Store].
func (f *Folder) Publish(ctx context.Context, sealed []byte) error {
	b, err := Claims(sealed)
	if err != nil {
		return err
	}
	return f.add(ctx, b.Tenant, bundleFile, b.Version, sealed)
}

// Last implements [Store].
func (f *Folder) Last(ctx context.Context, tenant string) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return f.last(tenant, bundleFile)
}

// Get implements [Store].
func (f *Folder) Get(ctx context.Context, tenant string, version uint64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.read(tenant, bundleFile, version, MaxSealedBytes)
}

// Roll implements [Store].
func (f *Folder) Roll(ctx context.Context, r Rollout) error {
	if err := r.Check(); err != nil {
		return err
	}
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return f.add(ctx, r.Tenant, rolloutFile, r.Serial, data)
}

// Now implements [Store].
func (f *Folder) Now(ctx context.Context, tenant string) (Rollout, error) {
	last, err := f.last(tenant, rolloutFile)
	if err != nil {
		return Rollout{}, err
	}
	if last == 0 {
		return Rollout{Tenant: tenant}, ctx.Err()
	}
	return f.Past(ctx, tenant, last)
}

// Past implements [Store].
func (f *Folder) Past(ctx context.Context, tenant string, serial uint64) (Rollout, error) {
	if err := ctx.Err(); err != nil {
		return Rollout{}, err
	}
	data, err := f.read(tenant, rolloutFile, serial, maxRolloutBytes)
	if err != nil {
		return Rollout{}, err
	}
	r, err := DecodeRollout(data)
	if err != nil || r.Tenant != tenant || r.Serial != serial {
		return Rollout{}, fmt.Errorf("read rollout %d: %w", serial, errors.Join(ErrRollout, err))
	}
	return r, nil
}

// of returns a tenant's folder. Its name is a hash, because a tenant's name may be too long for a
// file name.
func (f *Folder) of(tenant string) string {
	sum := sha256.Sum256([]byte(tenant))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:16]))
}

func (f *Folder) file(tenant, kind string, n uint64) string {
	return filepath.Join(f.of(tenant), kind+strconv.FormatUint(n, 10))
}

func (f *Folder) last(tenant, kind string) (uint64, error) {
	names, err := os.ReadDir(f.of(tenant))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for bundles: %w", err)
	}
	var last uint64
	for _, name := range names {
		text, ok := strings.CutPrefix(name.Name(), kind)
		if n, err := strconv.ParseUint(text, 10, 64); ok && err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

func (f *Folder) read(tenant, kind string, n uint64, limit int) ([]byte, error) {
	data, err := wholefile.Read(f.file(tenant, kind, n), int64(limit))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s%d: %w", kind, n, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s%d: %w", kind, n, err)
	}
	return data, nil
}

// add writes file n of a kind, which must be the next one.
func (f *Folder) add(ctx context.Context, tenant, kind string, n uint64, data []byte) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := f.of(tenant)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of bundles: %w", err)
	}
	free, err := wholefile.Lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return fmt.Errorf("keep %s%d: %w", kind, n, err)
	}
	defer func() { err = errors.Join(err, free()) }()
	last, err := f.last(tenant, kind)
	if err != nil {
		return err
	}
	if n != last+1 {
		return fmt.Errorf("%s%d after %d: %w", kind, n, last, ErrConflict)
	}
	if err := wholefile.Replace(f.file(tenant, kind, n), data, 0o600); err != nil {
		return fmt.Errorf("keep %s%d: %w", kind, n, err)
	}
	return nil
}
