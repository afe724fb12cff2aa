package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/floodmark/floodmark/internal/box/boxhole"
	"github.com/floodmark/floodmark/internal/box/boxwrites"
)

// A Spec says what one box shows and keeps. It comes from the monitor, never from a command line or
// a project. The zero Spec is refused.
type Spec struct {
	// Project is the folder that the command works in, as its session knows it.
	Project string `json:"project"`
	// Home is the owner's home folder, of which only toolchains are shown.
	Home string `json:"home"`
	// Folder is the box's own folder. Files that the command writes are stored there until they are
	// moved into the project. It must be outside of the project.
	Folder string `json:"folder"`
	// Temp is the folder that the boxes of one session share as /tmp. Cache is the one that they
	// share as the owner's cache folder. If one is empty, the box has its own, which ends with it.
	// If two boxes run at once, the second sees the folders under a layer that ends with it.
	Temp  string `json:"temp,omitempty"`
	Cache string `json:"cache,omitempty"`
	// ReadOnly shows the project as it was when the box began. Nothing can be written there.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Git is the folder of git that a project which is a worktree shares with others. It is shown
	// read-only. It is empty if the project has its own, or none.
	Git string `json:"git,omitempty"`
	// Hidden are files and folders of the project that are shown empty.
	Hidden []string `json:"hidden,omitempty"`
	// Secret are patterns of files that keep secrets in any folder, such as «**/.env*». The box
	// searches for them when it begins, and hides what it finds as well.
	Secret []string `json:"secret,omitempty"`
	// Whole says that nothing is kept of a command that fails because it could not reach a host, so
	// that it can be run again as if for the first time.
	Whole bool `json:"whole,omitempty"`
	// Keep says which written files may be moved into the project.
	Keep Keep `json:"keep"`
	// NoNetwork leaves out the loopback, which cannot be brought up inside another agent's sandbox.
	// The box still has its own, empty network, so it does not rely on that sandbox.
	NoNetwork bool `json:"noNetwork,omitempty"`
	// Hosts are the hosts that the command may reach, such as «api.example:443»: see package
	// boxhole. They have no effect with NoNetwork.
	Hosts []string `json:"hosts,omitempty"`
	// Mirror answers package managers: see package mirror. It may be empty, and has no effect with
	// NoNetwork.
	Mirror Mirror `json:"mirror,omitzero"`
	// Author and Mail are the name and address in commits.
	Author string `json:"author,omitempty"`
	Mail   string `json:"mail,omitempty"`
	// Processes bounds the processes at one time. Memory bounds the bytes of one process and, if
	// there is a control group, of all. Disk bounds the bytes of a file, and of all files that are
	// moved in. Zero means the default.
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"`
	Disk      int64 `json:"disk,omitempty"`
	// Undo is how many bytes of replaced files of the project are kept in Folder.
	Undo int64 `json:"undo,omitempty"`

	busy   []string // Temp and Cache, if another box is using them
	buffer []byte   // for copies, while the box is built
}

// A Mirror is a set of packages, and the folder that it is in.
type Mirror struct {
	Folder string `json:"folder"`
	Set    string `json:"set"`
}

// InBackground returns the rules for a command that outlives its call, such as a development
// server. It would write at the same time as later calls, so it sees a copy of the project,
// read-only. Its /tmp and cache are its own and end with it. The monitor chooses this by a flag of
// the call. Processes that an ordinary command leaves running end with its box.
func (s Spec) InBackground() Spec {
	s.ReadOnly, s.Temp, s.Cache = true, "", ""
	return s
}

// Keep says which written files may be moved into the project.
type Keep = boxwrites.Keep

// Writes returns what the command wrote. All of its processes must be gone.
func (s *Spec) Writes() *boxwrites.Writes {
	return &boxwrites.Writes{Project: s.Project, Folder: s.Folder, Home: s.Home, Disk: s.Disk, Keep: s.Keep, Undo: s.Undo}
}

// The limits of a spec.
const (
	maxSpec          = 1 << 20
	defaultProcesses = 1024
	defaultDisk      = 8 << 30
)

// ReadSpec reads and checks a spec.
func ReadSpec(r io.Reader) (*Spec, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSpec+1))
	if err != nil {
		return nil, fmt.Errorf("the rules of the box cannot be read: %w", err)
	}
	if len(data) > maxSpec {
		return nil, errors.New("the rules of the box are too long")
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var s Spec
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("the rules of the box cannot be read: %w", err)
	}
	return &s, s.check()
}

func (s *Spec) check() error {
	for name, p := range map[string]string{"project": s.Project, "home": s.Home, "folder": s.Folder} {
		if !whole(p) || p == "/" {
			return fmt.Errorf("the %s of the box is no whole path: %q", name, p)
		}
	}
	for name, p := range map[string]string{"temp": s.Temp, "cache": s.Cache, "git": s.Git} {
		if p != "" && (!whole(p) || p == "/") {
			return fmt.Errorf("the %s folder of the box is no whole path: %q", name, p)
		}
	}
	apart := []string{s.Project, s.Folder, s.Temp, s.Cache, s.Git}
	for i, a := range apart {
		for _, b := range apart[:i] {
			if a != "" && b != "" && (below(a, b) || below(b, a)) {
				return fmt.Errorf("%s and %s must not lie in each other", a, b)
			}
		}
	}
	for name, p := range map[string]string{"project": s.Project, "git": s.Git} {
		if p != "" && below(s.Home, p) {
			return fmt.Errorf("the %s folder %s holds the whole home %s", name, p, s.Home)
		}
	}
	for _, h := range s.Hidden {
		if !filepath.IsLocal(h) || h == "." || h != filepath.Clean(h) {
			return fmt.Errorf("a hidden path does not lie in the project: %q", h)
		}
	}
	for _, p := range s.Secret {
		if name, anywhere := strings.CutPrefix(p, "**/"); !anywhere || name == "" || strings.Contains(name, "**") {
			return fmt.Errorf("a box cannot look for secrets by %q", p)
		}
	}
	if _, err := boxhole.New(s.Hosts); err != nil {
		return err
	}
	if s.Mirror.Set != "" && !whole(s.Mirror.Folder) {
		return fmt.Errorf("the folder of the mirror is no whole path: %q", s.Mirror.Folder)
	}
	if s.Processes == 0 {
		s.Processes = defaultProcesses
	}
	if s.Disk == 0 {
		s.Disk = defaultDisk
	}
	if s.Processes < 0 || s.Memory < 0 || s.Disk < 0 || s.Undo < 0 {
		return errors.New("a limit of the box is negative")
	}
	return nil
}

func whole(p string) bool { return filepath.IsAbs(p) && p == filepath.Clean(p) }

// below reports whether a path is the folder or is in it.
func below(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// An End is the result of a command when all processes of its box are gone.
type End struct {
	Status syscall.WaitStatus
	// Hosts are the hosts that the command tried to reach and could not: a host and port that it
	// asked the box's proxy for, or a name that it looked up. With [Spec.NoNetwork] none is known.
	Hosts []string
	// Left says that other processes were still running when the command ended. They were ended,
	// too.
	Left bool
}
