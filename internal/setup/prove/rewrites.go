package prove

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// Rewrites tells a monitor which agents run a replacement command. "floodmark prove" has seen the
// installed programs do so. It starts no program. It is safe for concurrent use. A nil Rewrites
// knows no such agent.
type Rewrites struct {
	// Proofs is the file of proofs. Records is the folder with the agents' original settings.
	Proofs, Records string
	// Box is the path of floodmark-box, or empty if there is none.
	Box string

	mu sync.Mutex // guards what is below
	// seen caches the digests of programs. An entry is used as long as the file's size and time
	// have not changed.
	seen map[string]seenProgram
}

type seenProgram struct {
	info   os.FileInfo
	digest string
}

// Proved reports whether an agent was seen to run the command that it gets. It returns false if
// anything has changed or cannot be read: for another version, another program of the same version,
// or an agent that is no longer protected.
func (r *Rewrites) Proved(ctx context.Context, agent string) bool {
	if r == nil {
		return false
	}
	known, err := readProofs(r.Proofs)
	if err != nil {
		return false
	}
	agent = floodmark.Program(agent)
	look, looked := known.Looks[agent]
	last := known.Agents[agent]
	if !looked || last.Grade != HostVerified || !last.Rewrites || last.Program == "" {
		return false
	}
	f, there, err := look.machine(r.Records).Find(ctx, agent)
	if err != nil || !there || f.State != protect.Protected || f.Program == "" {
		return false
	}
	if f.Version != last.Version && f.Version != "" || f.Version == "" && isScript(f.Program) {
		return false
	}
	now, err := r.digest(f.Program)
	return err == nil && now == last.Program
}

// Boxes reports whether commands of an agent can be run in a box. The agent must run the command
// that it gets, and a box must hold here (see [Rewrites.BoxHolds]).
func (r *Rewrites) Boxes(ctx context.Context, agent string) bool {
	return Unboxable(floodmark.Program(agent), os.Getuid()) == "" && r.BoxHolds() && r.Proved(ctx, agent)
}

// BoxHolds reports whether "floodmark prove --box" has last seen, with this floodmark-box and on
// this kernel, that every attempt to escape from a box failed.
func (r *Rewrites) BoxHolds() bool {
	if r == nil || r.Box == "" {
		return false
	}
	known, err := readProofs(r.Proofs)
	if err != nil || known.Box == nil || known.Box.Program == "" || known.Box.Kernel == "" {
		return false
	}
	now, err := r.digest(r.Box)
	return err == nil && now == known.Box.Program && kernelRelease() == known.Box.Kernel
}

// isScript reports whether a program is a script, or cannot be read. A script may load any other
// file, so its digest does not identify the program.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	var first [2]byte
	_, err = io.ReadFull(f, first[:])
	return err != nil || bytes.Equal(first[:], []byte("#!"))
}

// digest returns the digest of a program. It reads the file, which can have 100 MB, only if the
// file has changed.
func (r *Rewrites) digest(path string) (string, error) {
	there, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(there)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, known := r.seen[there]; known && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) {
		return was.digest, nil
	}
	digest, err := programDigest(there)
	if err != nil {
		return "", err
	}
	if r.seen == nil || len(r.seen) >= maxSeen {
		r.seen = map[string]seenProgram{}
	}
	r.seen[there] = seenProgram{info, digest}
	return digest, nil
}

// maxSeen bounds the cached digests. It is more than enough for the eight agents.
const maxSeen = 64
