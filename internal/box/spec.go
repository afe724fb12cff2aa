package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/floodmark/floodmark/internal/boxhole"
	"github.com/floodmark/floodmark/internal/boxwrites"
)

// A Spec says what one box shows and keeps. It comes from the monitor, never
// from a command line or a project. The zero value is refused.
type Spec struct {
	// Project is the folder that the command works on, as its session knows it.
	Project string `json:"project"`
	// Home is the owner's home, of which only Toolchains are shown.
	Home string `json:"home"`
	// Folder is the box's own: what the command writes lies there until it is
	// moved into the project. It must lie outside of the project.
	Folder string `json:"folder"`
	// Temp is what the boxes of one session share as /tmp; Cache is what they
	// share as the owner's cache folder. Empty: one that ends with the box.
	// While one box runs, another sees them under a layer that ends with it.
	Temp  string `json:"temp,omitempty"`
	Cache string `json:"cache,omitempty"`
	// ReadOnly shows the project as it was when the box began; nothing can be written
	// there.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Git is the folder of git's that a project which is a worktree shares with others.
	// It is shown read-only. Empty: the project has its own, or none.
	Git string `json:"git,omitempty"`
	// Hidden are files and folders of the project that are shown empty.
	Hidden []string `json:"hidden,omitempty"`
	// Secret are patterns of files that keep secrets in any folder, such as «**/.env*».
	// The box looks for them when it begins, and hides what it finds as well.
	Secret []string `json:"secret,omitempty"`
	// Whole keeps nothing of a command that fails because it could not reach a host, so that it can
	// be run again as if for the first time.
	Whole bool `json:"whole,omitempty"`
	// Keep says what of the written files may be moved into the project.
	Keep Keep `json:"keep"`
	// NoNetwork leaves out the loopback, which cannot be brought up inside another
	// agent's sandbox. The box has a network of its own, with nothing in it, in any
	// case: what is around it is not relied upon.
	NoNetwork bool `json:"noNetwork,omitempty"`
	// Hosts are those that the command may reach, such as «api.example:443»: see package
	// boxhole. It has no use with NoNetwork.
	Hosts []string `json:"hosts,omitempty"`
	// Mirror, unless empty, answers package managers; see package mirror. It has no use
	// with NoNetwork.
	Mirror Mirror `json:"mirror,omitzero"`
	// Author and Mail are who commits are by.
	Author string `json:"author,omitempty"`
	Mail   string `json:"mail,omitempty"`
	// Processes is how many may run at once, Memory how many bytes one of them may
	// have (and all of them, where there is a control group), Disk how many bytes a
	// file and all that is moved in may have. Zero is the default.
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"`
	Disk      int64 `json:"disk,omitempty"`
	// Undo is how many bytes of what is replaced in the project are kept in Folder.
	Undo int64 `json:"undo,omitempty"`

	busy   []string // of Temp and Cache: what another box has
	buffer []byte   // for copies, while the box is built
}

// A Mirror is a set of packages, and the folder that it lies in.
type Mirror struct {
	Folder string `json:"folder"`
	Set    string `json:"set"`
}

// InBackground returns the rules for a command that outlives its call, such as a
// development server. It would write while later calls do, so it sees a
// copy of the project, read-only, and its /tmp and cache are its own and end with it.
// The monitor chooses this, by the call's flag; what an ordinary command leaves
// running ends with its box.
func (s Spec) InBackground() Spec {
	s.ReadOnly, s.Temp, s.Cache = true, "", ""
	return s
}

// Keep says which written files may be moved into the project.
type Keep = boxwrites.Keep

// Writes is what the command wrote, once all of its processes are gone.
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

// below reports whether a path is a folder or lies in it.
func below(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// An End is the result of a command when all processes of its box are gone.
type End struct {
	Status syscall.WaitStatus
	// Hosts are what the command wanted to reach and could not: a host and port that it
	// asked the box's proxy for, or a name that it looked up. Inside another sandbox, with
	// [Spec.NoNetwork], none is known.
	Hosts []string
	// Left says that processes still ran when the command ended. They ended too.
	Left bool
}
