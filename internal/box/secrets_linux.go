package box

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A box searches for secrets itself, right before the command begins, so that secrets that were
// made after its rules were written are hidden, too. Dependencies are searched like everything
// else, because owners and their tools leave copies there.

// Limits of that search. A project beyond them gets no box.
const (
	maxFolders   = 100_000
	maxHidden    = 2000 // each is a mount
	maxCertBytes = 4 << 20
)

// secretNames are the names of files that keep secrets, in lower case.
type secretNames struct {
	exact map[string]bool
	ends  [][2]string // the parts before and after a star
	other [][]string  // patterns of the last parts of a path
}

func newSecretNames(patterns []string) *secretNames {
	n := &secretNames{exact: map[string]bool{}}
	for _, p := range patterns {
		p = strings.ToLower(p)
		name := strings.TrimPrefix(p, "**/")
		before, after, star := strings.Cut(name, "*")
		switch {
		case strings.ContainsAny(name, `\[?/`) || strings.Contains(after, "*"):
			n.other = append(n.other, strings.Split(name, "/"))
		case star:
			n.ends = append(n.ends, [2]string{before, after})
		default:
			n.exact[name] = true
		}
	}
	return n
}

// keep reports whether a file in a folder of the project keeps secrets.
func (n *secretNames) keep(dir, name string) bool {
	low := strings.ToLower(name)
	if n.exact[low] {
		return true
	}
	for _, e := range n.ends {
		if len(low) >= len(e[0])+len(e[1]) && strings.HasPrefix(low, e[0]) && strings.HasSuffix(low, e[1]) {
			return true
		}
	}
	if len(n.other) == 0 {
		return false
	}
	parts := strings.Split(path.Join(strings.ToLower(filepath.ToSlash(dir)), low), "/")
	return slices.ContainsFunc(n.other, func(p []string) bool { return endsAs(p, parts) })
}

// endsAs reports whether the last parts of a path match a pattern. An invalid pattern matches
// everything.
func endsAs(pattern, parts []string) bool {
	if len(parts) < len(pattern) {
		return false
	}
	for i, part := range parts[len(parts)-len(pattern):] {
		if ok, err := path.Match(pattern[i], part); !ok && err == nil {
			return false
		}
	}
	return true
}

// Hides reports whether a file of the project exists and is shown empty, because it keeps secrets.
// rel is relative to the project.
func (s *Spec) Hides(rel string) bool {
	rel = filepath.Clean(rel)
	if !filepath.IsLocal(rel) {
		return false
	}
	if slices.Contains(s.Hidden, rel) {
		return true
	}
	return newSecretNames(s.Secret).keep(filepath.Dir(rel), filepath.Base(rel)) && s.secretAt(rel) != ""
}

// secrets returns the files and folders of the project that are to be hidden.
func (s *Spec) secrets() ([]string, error) {
	list := slices.Clone(s.Hidden)
	if len(s.Secret) == 0 {
		return list, nil
	}
	names, buffer := newSecretNames(s.Secret), make([]byte, 64<<10)
	todo := []string{"."}
	for n := 0; n < len(todo); n++ {
		dir := todo[n]
		err := s.entriesOf(dir, buffer, func(name string, folder bool) {
			switch {
			case folder && name == ".git": // its file names are names of branches
			case folder:
				todo = append(todo, filepath.Join(dir, name))
			case names.keep(dir, name):
				if at := s.secretAt(filepath.Join(dir, name)); at != "" {
					list = append(list, at)
				}
			}
		})
		if errors.Is(err, fs.ErrPermission) && dir != "." { // unreadable, but it could be entered
			list = append(list, dir)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return nil, fmt.Errorf("the project cannot be looked through for secrets: %w", err)
		}
		if len(todo) > maxFolders || len(list) > maxHidden {
			return nil, fmt.Errorf("the project has more than %d folders, or %d files that keep secrets: they cannot be hidden", maxFolders, maxHidden)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// entriesOf calls tell for each entry of a folder of the project. It reads the kernel's own list,
// because [os.ReadDir] takes twice as long, before each command.
func (s *Spec) entriesOf(dir string, buffer []byte, tell func(name string, folder bool)) error {
	fd, err := unix.Open(filepath.Join(s.Project, dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil || n <= 0 {
			return err
		}
		for rest := buffer[:n]; len(rest) > 0; {
			const atLength, atType, atName = 16, 18, 19 // linux_dirent64
			length := binary.NativeEndian.Uint16(rest[atLength:])
			name, _, _ := bytes.Cut(rest[atName:length], []byte{0})
			kind := rest[atType]
			rest = rest[length:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			folder := kind == unix.DT_DIR
			if kind == unix.DT_UNKNOWN { // not every disk reports the type
				info, err := os.Lstat(filepath.Join(s.Project, dir, string(name)))
				folder = err == nil && info.IsDir()
			}
			tell(string(name), folder)
		}
	}
}

// secretAt returns where the file at a path really is in the project, perhaps by way of a link. It
// is empty if the file is outside of the project, where a box does not show it, or keeps no secret.
func (s *Spec) secretAt(at string) string {
	there, err := filepath.EvalSymlinks(filepath.Join(s.Project, at))
	if err != nil {
		return ""
	}
	info, err := os.Lstat(there)
	if err != nil || !info.Mode().IsRegular() || onlyCertificates(there) {
		return ""
	}
	rel, err := filepath.Rel(s.Project, there)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// onlyCertificates reports whether a file has certificates, which are public, and no key. Libraries
// include such files and do not work without them.
func onlyCertificates(p string) bool {
	if !strings.EqualFold(filepath.Ext(p), ".pem") {
		return false
	}
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCertBytes+1))
	return err == nil && len(data) <= maxCertBytes && bytes.Contains(data, []byte("-----BEGIN CERTIFICATE-----")) && !bytes.Contains(data, []byte("PRIVATE KEY"))
}
