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

// Identity returns a digest that identifies the checkout around a path: of its folders, its remote,
// and the first line of its log, which says when and by whom it was made. It changes if another
// repository takes the path, or if the remote changes. It is zero if there is no checkout or it
// cannot be read.
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

// firstLine returns the first line of a file, or "" if the line is incomplete or too long.
func firstLine(name string) string {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // the file was only read
	data, err := io.ReadAll(io.LimitReader(f, maxLogLine))
	line, _, whole := strings.Cut(string(data), "\n")
	if err != nil || !whole {
		return ""
	}
	return line
}
