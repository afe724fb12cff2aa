package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/floodmark/floodmark"
)

// An Artifact is the record that a session keeps of something it left behind. A session has at most
// one artifact for each key; a newer one replaces it. An Artifact without a body is a removal: it
// removes the session's artifact if that was written with entry Seq or an earlier one.
//
// A session writes an artifact only in a batch with its own entry Seq, so its artifacts have the
// order of its entries. A session that takes over another session's artifact removes exactly the
// version it read. So concurrent writers need no lock.
type Artifact struct {
	Tenant  string
	Key     floodmark.Digest
	Session floodmark.SessionID
	// Seq is the number of the entry that the artifact was written with.
	Seq  uint64
	Body []byte
}

// Gone reports whether a removes an artifact.
func (a Artifact) Gone() bool { return len(a.Body) == 0 }

// MAC returns an HMAC, by the given key, of the artifact with its tenant, Key, session and entry
// number.
func (a Artifact) MAC(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range []string{"floodmark left", a.Tenant, string(a.Key[:]), string(a.Session)} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		mac.Write([]byte(part))
	}
	mac.Write(binary.BigEndian.AppendUint64(nil, a.Seq))
	mac.Write(a.Body)
	return mac.Sum(nil)
}

// MaxArtifacts bounds the artifacts of one batch. A call that names a hundred files in deep folders
// needs fewer.
const MaxArtifacts = 1 << 13

// MaxArtifactBytes bounds one artifact: it has some dozens of sources.
const MaxArtifactBytes = 1 << 20

// checkArtifacts refuses invalid artifacts, and returns the bytes of valid ones.
func (b Batch) checkArtifacts() (bytes int, err error) {
	if len(b.Artifacts) > MaxArtifacts {
		return 0, fmt.Errorf("%w: %d artifacts, at most %d", ErrTooLarge, len(b.Artifacts), MaxArtifacts)
	}
	for _, a := range b.Artifacts {
		if len(a.Body) > MaxArtifactBytes {
			return 0, fmt.Errorf("%w: an artifact of %d bytes, at most %d", ErrTooLarge, len(a.Body), MaxArtifactBytes)
		}
		if a.Seq > math.MaxInt64 || a.Session == "" || len(a.Session) > MaxSessionBytes || len(a.Tenant) > MaxTenantBytes {
			return 0, fmt.Errorf("%w: an artifact of no session", ErrTooLarge)
		}
		ours := func(r Record) bool {
			return r.Session == Session{Tenant: a.Tenant, ID: a.Session} && r.Last().Seq == a.Seq
		}
		if !a.Gone() && !slices.ContainsFunc(b.Records, ours) {
			return 0, fmt.Errorf("journal: an artifact of session %s beside its entries", a.Session)
		}
		bytes += len(a.Body)
	}
	return bytes, nil
}

// leave stores artifacts. The lock is held.
func (m *Memory) leave(list []Artifact) {
	for _, a := range list {
		key := contentKey{a.Tenant, a.Key}
		rest := slices.DeleteFunc(slices.Clone(m.left[key]), func(old Artifact) bool { return old.Session == a.Session && old.Seq <= a.Seq })
		if !a.Gone() {
			a.Body = slices.Clone(a.Body)
			rest = append(rest, a)
		}
		if m.left[key] = rest; len(rest) == 0 {
			delete(m.left, key)
		}
	}
}

// Artifacts implements [Journal].
func (m *Memory) Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]Artifact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	var found []Artifact
	for _, k := range keys {
		found = append(found, m.left[contentKey{tenant, k}]...)
	}
	return found, nil
}
