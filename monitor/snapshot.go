package monitor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// A sealed snapshot is its format, a MAC under the tenant's key, and the state as the kernel writes
// it. The MAC covers the session and the entry the state follows: without the key a snapshot cannot
// be changed, moved to another session, or put behind a newer entry.
//
// Changing how a state is written takes a new format. A snapshot in another format is ignored, and
// the session is read from its entries.
const (
	snapshotFormat = 5
	formerFormat   = 4 // had no turns of what was said; format 3 did not have how rounds are counted
	snapshotHead   = 1 + sha256.Size
)

// sealSnapshot makes a snapshot of the state after an entry.
func sealSnapshot(key provenance.Key, s journal.Session, link journal.Link, state []byte) []byte {
	sealed := make([]byte, 1, snapshotHead+len(state))
	sealed[0] = snapshotFormat
	sealed = append(sealed, snapshotMAC(key, s, link, state)...)
	return append(sealed, state...)
}

// openSnapshot returns the state in a snapshot that was sealed for exactly this session and entry,
// and the name of the key that sealed it. For a snapshot in another format the state is nil.
func openSnapshot(ring provenance.Ring, s journal.Session, link journal.Link, sealed []byte) (key string, state []byte, err error) {
	if len(sealed) > 0 && (sealed[0] != 0 && sealed[0] <= formerFormat || sealed[0] > snapshotFormat) {
		return "", nil, nil
	}
	if len(sealed) < snapshotHead || sealed[0] != snapshotFormat {
		return "", nil, broken(s, "its snapshot is cut off")
	}
	state = sealed[snapshotHead:]
	for _, k := range ring.Keys {
		if hmac.Equal(sealed[1:snapshotHead], snapshotMAC(k.Key, s, link, state)) {
			return k.Name, state, nil
		}
	}
	return "", nil, broken(s, "its snapshot was changed")
}

func snapshotMAC(key provenance.Key, s journal.Session, link journal.Link, state []byte) []byte {
	head := make([]byte, 0, 256)
	for _, part := range []string{"floodmark snapshot", s.Tenant, string(s.ID)} {
		head = binary.BigEndian.AppendUint32(head, uint32(len(part)))
		head = append(head, part...)
	}
	head = append(head, snapshotFormat)
	head = binary.BigEndian.AppendUint64(head, link.Seq)
	head = append(head, link.Hash[:]...)
	mac := hmac.New(sha256.New, key[:])
	mac.Write(head)
	mac.Write(state)
	return mac.Sum(nil)
}
