package contain

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// A Machine is the machine that a monitor runs on, with the parts of that monitor.
type Machine struct {
	Hooks   agents.Hooks
	Journal journal.Journal
	// View reads a session. Rules returns the rules that a session is judged by.
	View  func(ctx context.Context, s journal.Session) (monitor.View, error)
	Rules func(s journal.Session, root floodmark.SessionID) kernel.Rules
	// Files reads and writes what sessions recorded about files; see [monitor.Monitor.OnFiles].
	Files func(ctx context.Context, tenant string, what func(*kernel.State, kernel.Input) (kernel.Output, error)) error
	// Disk is the disk that the agents work on. Program is the path of floodmark-box. If either is
	// missing, nothing runs in a box.
	Disk    monitor.Disk
	Program string
	Paths   config.Paths
	// Registries are where pinned packages come from; nil: no box has any.
	Registries *mirrorfetch.Registries
	// Proved replaces the results of «floodmark prove»; nil: those results are used.
	Proved func(ctx context.Context, agent string) bool
	Note   func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now    func() time.Time
}

// Open returns the door of a machine.
func Open(m Machine) (*Door, error) {
	cfg := Config{Hooks: m.Hooks, Note: m.Note, Now: m.Now}
	if m.Disk == nil || !filepath.IsAbs(m.Program) {
		return New(cfg)
	}
	uid := os.Getuid()
	desk, err := boxticket.NewDesk(boxticket.Folder(uid), uid, m.Paths.Journal, rand.Reader)
	if err != nil {
		return nil, err
	}
	kept := shared(filepath.Join(m.Disk.Resolve(filepath.Dir(m.Paths.Proofs)), "boxes"))
	kept.sweep(m.Now())
	seen := &proofs{now: m.Now, look: (&prove.Rewrites{Proofs: m.Paths.Proofs, Records: m.Paths.Originals, Box: m.Program}).Boxes}
	if cfg.Proved = m.Proved; cfg.Proved == nil {
		cfg.Proved = seen.proved
	}
	cfg.Desk, cfg.Program, cfg.Shell, cfg.Fell = desk, m.Program, shell(), fell(m.Journal)
	cfg.Ended = kept.forget
	cfg.Undo, cfg.Edits, cfg.Records = m.undo(desk), m.edited, &Records{Journal: m.Journal, View: m.View, Files: m.Files}
	cfg.Packages, cfg.Project = m.packages(), m.project
	cfg.Spec = func(ctx context.Context, s journal.Session) (*box.Spec, error) { return m.spec(ctx, s, kept) }
	door, err := New(cfg)
	if err != nil { // the folder of tickets cannot be trusted, so nothing runs in a box
		return New(Config{Hooks: m.Hooks, Note: m.Note, Now: m.Now})
	}
	return door, nil
}

// undo opens the store of what boxes replaced.
func (m Machine) undo(desk *boxticket.Desk) *undo.Store {
	s := &undo.Store{
		Folder: filepath.Join(m.Disk.Resolve(filepath.Dir(m.Paths.Proofs)), "undo"), Quota: undo.Quota, Now: m.Now, Lock: desk.Lock,
	}
	_ = s.Sweep() // what cannot be finished stays, and is tried again at the next start
	return s
}

// spec returns what the box of a session shows and keeps. It uses only the session's record and the
// owner's own settings.
func (m Machine) spec(ctx context.Context, s journal.Session, kept shared) (*box.Spec, error) {
	v, err := m.View(ctx, s)
	if err != nil {
		return nil, err
	}
	root := v.State.Root
	if root == "" {
		root = s.ID
	}
	at := catalog.Places{Project: m.Disk.Resolve(v.State.Project), Home: v.State.Home}
	if at.Home == "" {
		at.Home = m.Paths.Home
	}
	spec, err := boxspec.For(m.Rules(s, root).Catalog, at, m.Disk, "")
	if err != nil {
		return nil, err
	}
	spec.Temp, spec.Cache = kept.of(s)
	spec.Git = workspace.Shared(at.Project)
	spec.Author, spec.Mail = workspace.Author(m.Paths.Home)
	return spec, nil
}

// shell returns the shell that runs command lines. All agents use bash if there is one.
func shell() string {
	const bash = "/bin/bash"
	if _, err := os.Stat(bash); err == nil {
		return bash
	}
	return "/bin/sh"
}

// proofs caches for a short time what was proved of agents: finding an agent reads its settings and
// a program of some 100 MB.
type proofs struct {
	now  func() time.Time
	look func(ctx context.Context, agent string) bool

	mu   sync.Mutex // guards seen
	seen map[string]seen
}

type seen struct {
	at     time.Time
	proved bool
}

// fresh is how long a cached result is used.
const fresh = 10 * time.Second

func (p *proofs) proved(ctx context.Context, agent string) bool {
	agent = floodmark.Program(agent)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, known := p.seen[agent]; known && p.now().Sub(s.at).Abs() < fresh {
		return s.proved
	}
	if p.seen == nil || len(p.seen) > 64 {
		p.seen = map[string]seen{}
	}
	ok := p.look(ctx, agent)
	p.seen[agent] = seen{p.now(), ok}
	return ok
}

// maxParents bounds how many parents of a sub-agent's session are followed.
const maxParents = 64

// fell reports, from the journal, whether a command of a session or of one of its parent sessions
// ran without its box.
func fell(j journal.Journal) func(ctx context.Context, s journal.Session) (bool, error) {
	return func(ctx context.Context, s journal.Session) (bool, error) {
		for range maxParents {
			parent := floodmark.SessionID("")
			for e, err := range j.Read(ctx, s, 0) {
				if err != nil {
					return true, err
				}
				f, err := e.Fact()
				if err != nil {
					return true, err
				}
				if forked, is := f.(floodmark.SessionForked); is {
					parent = forked.Parent
				}
				if seen, is := f.(floodmark.IncidentSeen); is && seen.Kind == NotUsed {
					return true, nil
				}
			}
			if parent == "" {
				return false, nil
			}
			s.ID = parent
		}
		return true, nil
	}
}
