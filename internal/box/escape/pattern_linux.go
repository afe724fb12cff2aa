package escape

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

//go:embed data/home.txtar
var homeFiles []byte

// A pattern is a home of which each world gets a copy, so that git has to run only once. It is kept
// in memory and has few files, because it is copied hundreds of times and copying takes longer than
// most attempts.
type pattern struct {
	folders []string
	files   map[string][]byte
}

// loose is the git object that an attempt replaces.
const loose = "45/b983be36b73c0788dc9cbcb76cbb80fc7bb057"

// newPattern makes the home, with the parts that no box may read or change.
func newPattern(ctx context.Context, root string) (*pattern, error) {
	home := filepath.Join(root, "home")
	for _, f := range txtar.Parse(homeFiles).Files {
		at := filepath.Join(home, f.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			return nil, err
		}
	}
	git := func(args ...string) error {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = filepath.Join(home, "ws"), append(os.Environ(), "HOME="+home)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	for _, args := range []string{
		"init -q -b main --template=", // templates would be copied for each world
		"add -A",
		"commit -qm a",
		"config core.hooksPath ci",
		"config include.path ../gitsettings",
	} {
		if err := git(strings.Fields(args)...); err != nil {
			return nil, err
		}
	}
	objects := filepath.Join(home, "ws", ".git", "objects")
	object, err := os.ReadFile(filepath.Join(objects, loose))
	if err != nil {
		return nil, err
	}
	if err := git("repack", "-adq"); err != nil {
		return nil, err
	}
	err = errors.Join(os.MkdirAll(filepath.Join(objects, filepath.Dir(loose)), 0o700), os.WriteFile(filepath.Join(objects, loose), object, 0o600))
	if err != nil {
		return nil, err
	}
	return readPattern(home)
}

// readPattern reads the files and folders in a home.
func readPattern(home string) (*pattern, error) {
	p := &pattern{files: map[string][]byte{}}
	return p, filepath.WalkDir(home, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, at)
		if err != nil {
			return err
		}
		if d.IsDir() {
			p.folders = append(p.folders, rel)
			return nil
		}
		p.files[rel], err = os.ReadFile(at)
		return err
	})
}

// copyTo writes the pattern into a new home.
func (p *pattern) copyTo(home string) error {
	if err := os.MkdirAll(filepath.Join(filepath.Dir(home), "tmp-outside"), 0o700); err != nil {
		return err
	}
	for _, name := range p.folders {
		if err := unix.Mkdir(filepath.Join(home, name), 0o755); err != nil {
			return &fs.PathError{Op: "mkdir", Path: name, Err: err}
		}
	}
	for name, data := range p.files {
		fd, err := unix.Open(filepath.Join(home, name), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
		if err == nil {
			_, err = unix.Write(fd, data)
			err = errors.Join(err, unix.Close(fd))
		}
		if err != nil {
			return &fs.PathError{Op: "write", Path: name, Err: err}
		}
	}
	return nil
}

// spread asks the file system to place the folders in a folder far apart from each other, if it
// can. Without a journal, ext4 does not reuse the place of a removed file for minutes. A second
// proof would then search past all files of the first one for each file it makes, which took longer
// than all attempts.
func spread(folder string) {
	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close()
	const apart = 0x20000 // FS_TOPDIR_FL, as by chattr +T
	if flags, err := unix.IoctlGetInt(int(dir.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, flags|apart)
	}
}
