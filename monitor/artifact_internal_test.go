package monitor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// An artifact's key is an HMAC-SHA256 of its parts, each with its length, for
// names of all lengths; a file's is of its machine too.
func TestArtifactKeysAreHMAC(t *testing.T) {
	key := provenance.Key{1, 2, 3}
	for _, n := range []int{0, 1, 63, 64, 400, 448, 449, 5000} {
		for kind, machine := range map[floodmark.ArtifactKind]string{floodmark.FileArtifact: "laptop", floodmark.MemoryArtifact: ""} {
			m := &Monitor{cfg: Config{Machine: "laptop"}}
			ref := floodmark.ArtifactRef{Kind: kind, Name: strings.Repeat("é", n)[:n]}
			mac := hmac.New(sha256.New, key[:])
			for _, part := range []string{"floodmark artifact", machine, string(kind), ref.Name} {
				mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
				mac.Write([]byte(part))
			}
			if got := m.artifactKey(key, ref); got != floodmark.Digest(mac.Sum(nil)) {
				t.Errorf("%s of %d bytes: %s", kind, n, got)
			}
		}
	}
}
