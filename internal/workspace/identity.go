package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxLogLine bounds the first line of a repository's own log.
const maxLogLine = 1 << 12

// Identity stands for the checkout around a path: where it lies, its remote, and the beginning of
// its log, which says when and by whom it was made. Another repository at the same path has another
// identity, and so has one whose remote was changed. It is zero without a checkout, or if it cannot
// be read.
func Identity(path string) floodmark.Digest {
	root, dir, ok := locate(path)
	if !ok {
		return floodmark.Digest{}
	}
	r := open(root, dir)
	begins := firstLine(filepath.Join(r.dir, "logs", "HEAD"))
	if r.borrowed || begins == "" {
		return floodmark.Digest{}
	}
	parts := []string{"repository", root, r.dir, r.common, r.address(), begins}
	return floodmark.DigestOf(strings.Join(parts, "\x00"))
}

// firstLine is the first line of a file; empty if it is incomplete or too long.
func firstLine(name string) string {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxLogLine))
	line, _, whole := strings.Cut(string(data), "\n")
	if err != nil || !whole {
		return ""
	}
	return line
}
