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

// sandboxed reports whether an agent runs commands in a sandbox of its own, in which only the
// project and /tmp can be written to.
func sandboxed(agent string) bool { return floodmark.Program(agent) == "codex" }

// folderOf returns a folder name for a session.
func folderOf(s journal.Session) string {
	sum := sha256.Sum256([]byte(s.Tenant + "\x00" + string(s.ID)))
	return hex.EncodeToString(sum[:16])
}

// shared is the folder with one folder for each session, whose /tmp and cache its boxes share. It
// is below the monitor's own folder; no part of it belongs to a project.
type shared string

func (f shared) of(s journal.Session) (temp, cache string) {
	own := filepath.Join(string(f), folderOf(s))
	return filepath.Join(own, "tmp"), filepath.Join(own, "cache")
}

// forget removes what the boxes of a session shared.
func (f shared) forget(s journal.Session) { f.remove(folderOf(s)) }

// unused is how long the folder of a session that never ends is kept.
const unused = 7 * 24 * time.Hour

// sweep removes the folders of sessions in which no box has run for a long time.
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

// remove removes a folder with everything that commands left in it, even folders that their owner
// may not read and folders nested too deep to have a path. It follows no link out of the folder.
// What cannot be removed stays until the next time.
func (f shared) remove(name string) {
	dir, err := os.Open(string(f))
	if err != nil {
		return
	}
	defer dir.Close()
	_ = box.Remove(dir, name, 0)
}
