package prove

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/protect"
)

// Rewrites tells a monitor which agents run the command they are given in place of their own,
// because «floodmark prove» saw the installed program do so. It starts nothing. It is safe for
// concurrent use; a nil Rewrites has no such agent.
type Rewrites struct {
	// Proofs is what was seen last, Records the folder of the originals.
	Proofs, Records string
	// Box is floodmark-box; empty: there is none.
	Box string

	mu sync.Mutex // guards what is below
	// seen are the digests of programs, as long as their files stay as they were.
	seen map[string]seenProgram
}

type seenProgram struct {
	info   os.FileInfo
	digest string
}

// Proved reports whether this was seen of an agent. Anything that cannot be read or told means
// false: another version, another program of the same version, an agent that is no longer
// protected.
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

// Boxes reports whether commands of an agent can be run in a box: it runs the command
// it is given, and «floodmark prove --box» saw on this machine that this very
// floodmark-box holds, under the kernel that runs now.
func (r *Rewrites) Boxes(ctx context.Context, agent string) bool {
	return Unboxable(floodmark.Program(agent), os.Getuid()) == "" && r.BoxHolds() && r.Proved(ctx, agent)
}

// BoxHolds reports whether every attempt to escape from a box of this very program, on this kernel,
// failed when they were last made.
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

// isScript reports whether a program is a text for another one, or cannot be read:
// it may load anything, so its digest does not say what it is.
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

// digest is programDigest, which reads some 100 MB, only for a file that changed.
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

// maxSeen bounds the programs that are remembered: there are eight agents.
const maxSeen = 64
