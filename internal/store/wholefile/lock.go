package wholefile

import (
	"context"
	"errors"
	"os"
	"time"
)

// lockPace is the time between two attempts to get a lock that another process has.
const lockPace = 5 * time.Millisecond

// ErrLocked says that another process had the lock all the time.
var ErrLocked = errors.New("others are at it")

// Lock waits until it gets the lock at this path, or ctx ends. The caller must call free; if its
// process ends, the system releases the lock.
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
