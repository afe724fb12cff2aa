package protect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A record keeps the settings of one agent as they were before we changed them. It is written
// before the first file is changed and removed after the last one was restored, so that a run after
// a crash can finish or undo the change. Fields are only added.
type record struct {
	V     int    `json:"v"`
	Agent string `json:"agent"`
	// Version is that of the agent when it was protected.
	Version string `json:"version,omitempty"`
	Files   []kept `json:"files"`
	// Folders are the folders we made, outermost first.
	Folders []string  `json:"folders,omitempty"`
	Trust   []trusted `json:"trust,omitempty"`
	// OnlyServers says that we never wrote hooks for this agent: only its tool servers were led
	// through the gateway.
	OnlyServers bool `json:"onlyServers,omitempty"`

	// left are files that will be restored when the plan is applied, and so leave the record.
	left []string
}

// hooked reports whether we wrote hooks.
func (r *record) hooked() bool { return len(r.Files) > 0 && !r.OnlyServers }

// recordVersion changes when old records can no longer be read.
const recordVersion = 1

// maxRecord bounds a record: the originals of some files, in base64.
const maxRecord = 64 << 20

// kept is the original of one file.
type kept struct {
	Path  string `json:"path"`
	There bool   `json:"there"` // false: there was no file
	Data  []byte `json:"data,omitempty"`
	// Left are the hashes of what we wrote: one, or while writing also that of the content before.
	Left []string `json:"left"`
	// Servers says that we changed only tool servers in it.
	Servers bool `json:"servers,omitempty"`
}

func (k kept) original() content { return content{k.There, k.Data} }

// before returns the original; nil if it is unknown.
func (k *kept) before() *content {
	if k == nil {
		return nil
	}
	c := k.original()
	return &c
}

// asLeft reports whether a file is as we wrote it.
func (k kept) asLeft(now content) bool { return slices.Contains(k.Left, digest(now)) }

func digest(c content) string {
	if !c.there {
		return "absent"
	}
	sum := sha256.Sum256(c.data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// of finds the original of a file; nil if there is none.
func (r *record) of(path string) *kept {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// Since returns when an agent was last protected; the zero time if it is not.
func (m Machine) Since(agent string) time.Time {
	info, err := os.Stat(m.recordFile(agent))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (m Machine) recordFile(agent string) string { return filepath.Join(m.Records, agent+".json") }

// record reads the record of an agent; an empty one if there is none.
func (m Machine) record(agent string) (*record, error) {
	r := &record{V: recordVersion, Agent: agent}
	data, err := wholefile.Read(m.recordFile(agent), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err == nil && (r.V != recordVersion || r.Agent != agent) {
		err = errors.New("it was written by another version of floodmark")
	}
	if err != nil {
		return nil, &FileError{Path: m.recordFile(agent), Text: "the originals cannot be read: " + err.Error(), Hint: "if nothing helps, move it away: then only what is ours is taken out of the settings"}
	}
	return r, nil
}

func (m Machine) writeRecord(r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return wholefile.Replace(m.recordFile(r.Agent), data, 0o600)
}

// serverFiles returns the files in which only tool servers were changed.
func (r *record) serverFiles() (list []string) {
	for _, f := range r.Files {
		if f.Servers {
			list = append(list, f.Path)
		}
	}
	return list
}
