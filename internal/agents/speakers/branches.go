package speakers

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// An agent that another agent, its parent, starts is a branch of the parent. The branch's prompt was
// written by a model that had read all that the parent had read. The parent is looked up in the
// process tree, under conditions that no process below it can fake:
//   - The parent reports by itself, so that nothing it runs can speak in its name.
//   - The parent began while the monitor ran, and below no other agent.
//   - The parent had one session in all its life, so all processes below it come from that session.
//   - No other speaker is between the parent and the branch.
//
// Otherwise the parent is unknown, and the new agent's prompt is refused.

// branches tracks the processes that spoke, and the sessions that began below them. It is kept in
// memory only: after a restart of the monitor, agents that run already cannot be parents. It is safe
// for concurrent use.
type branches struct {
	table   peer.Table
	guarded *peer.Guarded
	// since is when the monitor began to watch.
	since uint64

	mu       sync.Mutex // guards what is below
	speakers map[peer.Process]*spoke
	pending  map[floodmark.SessionID]branch
	parents  map[floodmark.SessionID]floodmark.SessionID // of branches
	// news has, for each session, the branches that did something since told last returned them.
	news map[floodmark.SessionID][]floodmark.SessionID
	full bool // there were more than can be followed
	// gateways are the sessions of gateways, by the process that started them.
	gateways map[peer.Process]shared
	// called has the client of a gateway and the processes above it, by the gateway's session.
	called map[floodmark.SessionID][]peer.Info
}

// A spoke is a process that spoke: its first session, and whether it had others.
type spoke struct {
	session        floodmark.SessionID
	agent, project string
	// root says that the session may have branches. many says that the process had other sessions,
	// too.
	root, many bool
	// others are these other sessions; lost says that there were more than maxOthers.
	others []floodmark.SessionID
	lost   bool
}

// maxOthers bounds the sessions remembered for one process.
const maxOthers = 64

// and records another session of a process.
func (s *spoke) and(session floodmark.SessionID) {
	if s.session == session || slices.Contains(s.others, session) {
		return
	}
	s.root, s.many = false, true
	if len(s.others) >= maxOthers {
		s.lost = true
		return
	}
	s.others = append(s.others, session)
}

// A branch is a session that began below the agent of another session, and was not prompted yet.
type branch struct {
	own    peer.Process
	parent floodmark.SessionID
	agent  string // of the parent
}

// maxBranches bounds what is remembered of each kind. Beyond it no session is a branch until the
// monitor restarts.
const maxBranches = 1 << 14

func newBranches(t peer.Table, g *peer.Guarded, since uint64) *branches {
	return &branches{
		table: t, guarded: g, since: since, speakers: map[peer.Process]*spoke{}, pending: map[floodmark.SessionID]branch{},
		gateways: map[peer.Process]shared{}, called: map[floodmark.SessionID][]peer.Info{},
		parents: map[floodmark.SessionID]floodmark.SessionID{}, news: map[floodmark.SessionID][]floodmark.SessionID{},
	}
}

// own returns the process of the agent that speaks, and the processes above it; ok is false if the
// agent's process cannot be found.
func own(s Speaker) (agent peer.Process, above []peer.Info, ok bool) {
	if s.Agent == "" {
		return s.Process, s.Ancestors, true
	}
	if agent, ok = peer.Starter(s.Agent, s.Peer); !ok {
		return peer.Process{}, nil, false
	}
	i := slices.IndexFunc(s.Ancestors, func(up peer.Info) bool { return up.Process == agent })
	return agent, s.Ancestors[i+1:], true
}

// begins reports whether a session that starts is a branch, and remembers it. The monitor is not
// told of such a start, because the branch's first prompt begins the session.
func (b *branches) begins(s Speaker, ev hook.Event) bool {
	agent, above, ok := own(s)
	if !ok || ev.Point != hook.SessionStart || ev.Cause != hook.Startup {
		return false
	}
	guarded := b.guarded.Among(above, s.Agent)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full || b.speakers[agent] != nil || len(guarded) != 1 {
		return false
	}
	var parent *spoke
	for _, up := range above {
		if was := b.speakers[up.Process]; was != nil {
			if parent != nil || up.Process != guarded[0] {
				return false
			}
			parent = was
		}
	}
	if parent == nil || !parent.root || ev.Project == "" || filepath.Clean(ev.Project) != filepath.Clean(parent.project) {
		return false
	}
	b.pending[ev.Session] = branch{agent, parent.session, parent.agent}
	return true
}

// prompted returns the branch that a session is when it is prompted for the first time.
func (b *branches) prompted(s Speaker, ev hook.Event) (branch, bool) {
	agent, _, ok := own(s)
	b.mu.Lock()
	defer b.mu.Unlock()
	br, waits := b.pending[ev.Session]
	if !ok || !waits || br.own != agent || len(ev.Parts) > 0 {
		return branch{}, false
	}
	delete(b.pending, ev.Session)
	parent := b.root(br.parent)
	return br, parent && !b.full
}

// root reports whether a session may still have branches.
func (b *branches) root(session floodmark.SessionID) bool {
	for _, was := range b.speakers {
		if was.root && was.session == session {
			return true
		}
	}
	return false
}

// begun records a branch.
func (b *branches) begun(child, parent floodmark.SessionID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parents[child] = parent
	b.news[parent] = append(b.news[parent], child)
}

// heard records who speaks, before anything is answered.
func (b *branches) heard(s Speaker, ev hook.Event) {
	agent, above, ok := own(s)
	if !ok {
		return
	}
	guarded := b.guarded.Among(above, "")
	b.mu.Lock()
	defer b.mu.Unlock()
	if parent, is := b.parents[ev.Session]; is && !slices.Contains(b.news[parent], ev.Session) {
		b.news[parent] = append(b.news[parent], ev.Session)
	}
	if was := b.speakers[agent]; was != nil {
		was.and(ev.Session)
		return
	}
	if b.crowded() {
		b.sweep()
	}
	if b.crowded() {
		b.full = true
		return
	}
	alone := len(guarded) == 0 && !slices.ContainsFunc(above, func(up peer.Info) bool { return b.speakers[up.Process] != nil })
	b.speakers[agent] = &spoke{
		session: ev.Session, agent: ev.Agent, project: ev.Project,
		root: alone && s.Agent == "" && agent.Start >= b.since && ev.Point == hook.SessionStart && ev.Cause == hook.Startup,
	}
}

func (b *branches) crowded() bool {
	return len(b.speakers) >= maxBranches || len(b.parents) >= maxBranches || len(b.pending) >= maxBranches
}

// sweep drops processes that have ended, because no running process is below them.
func (b *branches) sweep() {
	maps.DeleteFunc(b.speakers, func(p peer.Process, _ *spoke) bool { return b.ended(p) })
	maps.DeleteFunc(b.pending, func(_ floodmark.SessionID, br branch) bool { return b.ended(br.own) })
}

func (b *branches) ended(p peer.Process) bool {
	now, err := b.table.Look(p.PID)
	return err != nil || now.Process != p
}

// told returns the branches of a session that did something since told was last called for it.
func (b *branches) told(session floodmark.SessionID) []floodmark.SessionID {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.news[session]
	delete(b.news, session)
	return list
}

// untold makes told return the branches in list again.
func (b *branches) untold(session floodmark.SessionID, list []floodmark.SessionID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news[session] = append(list, b.news[session]...)
}
