package bundle

import (
	"context"
	"errors"
)

// The errors of a store.
var (
	// ErrConflict says that the number is not the next one, because another writer was first.
	ErrConflict = errors.New("somebody else was first")
	// ErrNone says that there is no such version.
	ErrNone = errors.New("there is no such version")
)

// A Store keeps bundles and rollouts, unchanged for ever. It knows no keys: the caller opens a
// bundle with the keys that it trusts. All methods are safe for concurrent use, also by several
// processes.
type Store interface {
	// Publish stores a sealed bundle of the tenant's next version, or returns [ErrConflict]. No
	// subject gets the version until a rollout says so.
	Publish(ctx context.Context, sealed []byte) error
	// Last returns the newest version of a tenant, zero if there is none. All versions before it
	// exist.
	Last(ctx context.Context, tenant string) (uint64, error)
	// Get returns a sealed bundle, or [ErrNone].
	Get(ctx context.Context, tenant string, version uint64) ([]byte, error)
	// Roll stores a rollout whose serial is the next one, or returns [ErrConflict]. After Roll
	// returned, every caller of Now gets this rollout.
	Roll(ctx context.Context, r Rollout) error
	// Now returns the last rollout of a tenant; serial zero means that there is none.
	Now(ctx context.Context, tenant string) (Rollout, error)
	// Past returns one rollout of a tenant, or [ErrNone].
	Past(ctx context.Context, tenant string, serial uint64) (Rollout, error)
}
