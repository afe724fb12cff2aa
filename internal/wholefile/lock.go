package wholefile

import (
	"context"
	"errors"
	"os"
	"time"
)

// lockPace is how often a lock is tried that another process has.
const lockPace = 5 * time.Millisecond

// ErrLocked says that somebody else had the lock all the time.
var ErrLocked = errors.New("others are at it")

// Lock waits until no other process has the lock at this path, or ctx ends.
// Whoever takes it calls free; the system does for a process that ends.
func Lock(ctx context.Context, path string) (free func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockPace)
	defer tick.Stop()
	for {
		taken, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if taken {
			return func() error { return Unlock(f) }, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ErrLocked, f.Close())
		case <-tick.C:
		}
	}
}
