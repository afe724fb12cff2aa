package contain

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/journal"
)

// sandboxed reports an agent that runs commands in a sandbox of its own, in which
// only the project and /tmp can be written to.
func sandboxed(agent string) bool { return floodmark.Program(agent) == "codex" }

// folderOf names a session in a way that a folder can have, too.
func folderOf(s journal.Session) string {
	sum := sha256.Sum256([]byte(s.Tenant + "\x00" + string(s.ID)))
	return hex.EncodeToString(sum[:16])
}

// shared is the folder, below the monitor's own, of what the boxes of one session
// share as /tmp and as the owner's cache. No part of it belongs to a project.
type shared string

func (f shared) of(s journal.Session) (temp, cache string) {
	own := filepath.Join(string(f), folderOf(s))
	return filepath.Join(own, "tmp"), filepath.Join(own, "cache")
}

// forget removes what the boxes of a session shared.
func (f shared) forget(s journal.Session) { f.remove(folderOf(s)) }

// unused is how long that of a session is kept which never ends.
const unused = 7 * 24 * time.Hour

// sweep removes what belongs to sessions in which no box ran for long.
func (f shared) sweep(now time.Time) {
	list, _ := os.ReadDir(string(f)) // there is nothing before the first box
	ours := regexp.MustCompile(`^[0-9a-f]{32}$`)
	for _, e := range list {
		newest := time.Time{}
		for _, name := range []string{"", "tmp", "cache"} {
			if info, err := os.Lstat(filepath.Join(string(f), e.Name(), name)); err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
		if ours.MatchString(e.Name()) && now.Sub(newest) > unused {
			f.remove(e.Name())
		}
	}
}

// remove removes a folder with all that commands left in it, such as folders that not
// even their owner may look into, or that lie too deep in each other to be named. No
// link is followed out of it. What cannot be removed stays until the next time.
func (f shared) remove(name string) {
	dir, err := os.Open(string(f))
	if err != nil {
		return
	}
	defer dir.Close()
	_ = box.Remove(dir, name, 0)
}
