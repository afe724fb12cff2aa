package box

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxDigested is how many bytes of one command's files are read for their hashes:
// a second or two of work.
const maxDigested = 1 << 30

// Digest fills in the hashes of the files among changes, before they are moved
// in. A file that cannot be read, or is one too many, is left without.
func (s *Spec) Digest(list []Change) {
	room := int64(maxDigested)
	for i := range list {
		if c := &list[i]; c.Kind == File && c.Refused == "" && room > 0 {
			c.SHA256, room = digest(s.written(c.Path), room)
		}
	}
}

// digest returns the hash of a file of at most so many bytes, and what is left of them.
func digest(p string, room int64) (string, int64) {
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", room
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, room+1))
	if err != nil || n > room {
		return "", room - min(n, room)
	}
	return hex.EncodeToString(h.Sum(nil)), room - n
}
