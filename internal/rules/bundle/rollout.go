package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Everybody is a full share of a rollout.
const Everybody = 10_000

// The limits of a rollout.
const (
	MaxRevoked = 256 // the floor of a later version withdraws any number of versions
	maxByBytes = 512
	maxSerial  = 1 << 32
	second     = time.Second // the precision of a rollout's time
)

// ErrRollout says that a rollout is invalid.
var ErrRollout = errors.New("no such rollout")

// A Rollout says which subjects have which version. The zero Rollout gives out none.
type Rollout struct {
	Tenant string
	// Serial counts from 1, without gaps, for each tenant.
	Serial uint64
	// Stable is the version of subjects outside the share of Next; zero for none.
	Stable, Next uint64
	// Share is how many of ten thousand have Next.
	Share int
	// Floor is the oldest version that may still be used; zero means any. It is the highest floor
	// of the versions with a full share, and never sinks.
	Floor uint64
	// Revoked are versions that are not given out any more, in order.
	Revoked []uint64
	// By is who requested the rollout. At is when.
	By string
	At time.Time
}

// Check returns why a rollout is invalid, or nil.
func (r Rollout) Check() error {
	switch {
	case !plainName(r.Tenant):
		return fmt.Errorf("%w: the tenant has no name that could be one", ErrRollout)
	case r.Serial == 0 || r.Serial > maxSerial:
		return fmt.Errorf("%w: number %d", ErrRollout, r.Serial)
	case r.Stable > MaxVersion || r.Next > MaxVersion:
		return fmt.Errorf("%w: there is no version above %d", ErrRollout, MaxVersion)
	case r.Share < 0 || r.Share > Everybody:
		return fmt.Errorf("%w: a share is 0 to %d of ten thousand, not %d", ErrRollout, Everybody, r.Share)
	case r.Next == 0 && r.Share != 0, r.Next != 0 && r.Next == r.Stable:
		return fmt.Errorf("%w: a share needs a version other than the stable one", ErrRollout)
	case len(r.Revoked) > MaxRevoked:
		return fmt.Errorf("%w: %d versions are revoked, at most %d (publish a version whose floor is above them)", ErrRollout, len(r.Revoked), MaxRevoked)
	case r.Floor > MaxVersion, r.Stable != 0 && r.Stable < r.Floor, r.Next != 0 && r.Next < r.Floor:
		return fmt.Errorf("%w: nothing below version %d is given to anybody any more", ErrRollout, r.Floor)
	case slices.Contains(r.Revoked, r.Stable) || slices.Contains(r.Revoked, r.Next):
		return fmt.Errorf("%w: what is revoked is given to nobody", ErrRollout)
	case r.By == "" || !plainLine(r.By, maxByBytes) || r.At.IsZero() || r.At.UTC().Year() < 1 || r.At.UTC().Year() > 9999:
		return fmt.Errorf("%w: it does not say who wants it, and when", ErrRollout)
	}
	for i, v := range r.Revoked {
		if v == 0 || v > MaxVersion || i > 0 && v <= r.Revoked[i-1] {
			return fmt.Errorf("%w: the revoked versions are not in order", ErrRollout)
		}
	}
	return nil
}

// withdrawn reports whether a version is not given out any more.
func (r Rollout) withdrawn(version uint64) bool {
	return version < r.Floor || slices.Contains(r.Revoked, version)
}

// For returns the version that a subject has, zero for none. The subject is a session on nodes, and
// a machine for laptops. The same subject has the same version everywhere. If the share grows, no
// subject that has Next loses it. Versions that are revoked or below the floor are not given out.
func (r Rollout) For(subject string) uint64 {
	if r.Share < 0 || r.Share > Everybody {
		return 0
	}
	if r.Next != 0 && !r.withdrawn(r.Next) && r.draw(subject) < uint64(r.Share) {
		return r.Next
	}
	if r.withdrawn(r.Stable) {
		return 0
	}
	return r.Stable
}

// draw returns the place of a subject among ten thousand. It depends on the version, so that it is
// not always the same subjects that get a new version first.
//
// Rules for changing it: none of this changes, ever, because nodes of two versions must agree.
func (r Rollout) draw(subject string) uint64 {
	h := sha256.New()
	var size [8]byte
	for _, part := range []string{"floodmark bundle rollout 1", r.Tenant, subject} {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		_, _ = h.Write(size[:]) // a hash takes all
		_, _ = h.Write([]byte(part))
	}
	binary.BigEndian.PutUint64(size[:], r.Next)
	_, _ = h.Write(size[:])
	return binary.BigEndian.Uint64(h.Sum(nil)[:8]) % Everybody
}

// A Share is how many of ten thousand have a version.
type Share struct {
	Version uint64
	Share   int
}

// Shares returns the share of each version in use, the stable one first. Version zero counts the
// subjects without one.
func (r Rollout) Shares() []Share {
	next := 0
	if r.Next != 0 && !r.withdrawn(r.Next) {
		next = min(max(r.Share, 0), Everybody)
	}
	stable := r.Stable
	if r.withdrawn(stable) {
		stable = 0
	}
	var list []Share
	if next < Everybody {
		list = append(list, Share{stable, Everybody - next})
	}
	if next > 0 {
		list = append(list, Share{r.Next, next})
	}
	return list
}

// Percent formats a share as a percentage.
func Percent(share int) string {
	return strconv.FormatFloat(float64(share)/100, 'f', -1, 64) + " %"
}
