package kernel

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/verify"
)

// Rules are the rules that decisions follow from. They never change while in use. They are made by
// [NewRules].
type Rules struct {
	Policy  *policy.Policy
	Catalog *catalog.Catalog
	// Gates are the verifiers of the program's settings, beside the policy's.
	Gates verify.Gates
	// secrets tell secrets from other text. Without them every text is taken for a secret.
	secrets secret.Rules
	// words are the words with which owners ask. Without them no text is a request.
	words *language.Lexicon
}

// NewRules returns rules to decide by. Rules that were made otherwise take every text for a secret
// and none for a request.
func NewRules(p *policy.Policy, c *catalog.Catalog) Rules {
	return Rules{Policy: p, Catalog: c, secrets: secret.NewRules(), words: language.NewLexicon()}
}

// An Input is one hook event together with what the kernel may not fetch for
// itself: the time, a code that cannot be guessed, the tenant's key, and where
// the session's content was seen.
type Input struct {
	Event hook.Event
	At    time.Time
	// Code and Ticket name a question, if one has to be asked.
	Code   string
	Ticket floodmark.TicketID
	// Key is the session's key: it proves codes and hides the index. KeyName is its name. Others
	// are the tenant's other keys. Also are those of the other keys under which something in Index
	// was hidden.
	Key     provenance.Key
	KeyName string
	Others  []provenance.RingKey
	Also    []provenance.Key
	// Index says where values were seen in this session; nil knows nothing.
	Index provenance.Index
	// Readings remember how the owner's words of this session were read; nil
	// remembers nothing. They change no answer.
	Readings *Readings
	// Child is the state of the sub-agent a subagent_ended speaks of; nil if
	// it is not known, and then its result is not believed.
	Child *State
	// Artifacts say what sessions left behind; nil knows nothing.
	Artifacts artifact.Store
	// Altered is what was found on the disk after a call, at after_tool_call;
	// nil if the disk was not looked at.
	Altered *artifact.Altered
	// Disk is the disk of the machine the agent runs on; nil if it cannot be read.
	Disk artifact.Disk
	// Pause is the pause that the owner wants in effect for this session now. With the zero Pause
	// everything is enforced.
	Pause floodmark.Pause
}

// An Output holds the facts to write down, and the reply that may be given once they are written.
type Output struct {
	Facts []floodmark.Fact
	Reply hook.Reply
	// Ask is the question that goes to the owner's channels.
	Ask *approval.Ticket
	// Late names a question that was answered again; empty if none was.
	Late floodmark.TicketID
	// Case is set with an Audit verdict: what to ask the auditor. The answer
	// comes back through [Opine].
	Case *audit.Case
	// Verify is set if gates outside must agree to an allowed call: the call may not proceed yet.
	// The answers of the gates come back through [Verify].
	Verify *Asking
	// Indexed is content whose tokens belong into the index, in one commit with
	// the facts.
	Indexed []Indexed
	// Artifacts are this session's records of what it leaves behind. Each replaces the session's
	// former record of that artifact. Gone are the records to remove. Both belong into one commit
	// with the facts.
	Artifacts []floodmark.Artifact
	Gone      []artifact.Gone
	// Watch is the folder in which an allowed call runs code. Files changed there may contain
	// anything that the session has seen, so a caller that can look at the disk reports them.
	Watch string
	// Forks are sessions begun by this one, with their first facts.
	Forks []Fork
}

// An Indexed is content and the node it became.
type Indexed struct {
	Node   floodmark.NodeID
	Digest floodmark.Digest
	Text   string
}

// A Fork is a session begun on behalf of another.
type Fork struct {
	Session floodmark.SessionID
	Facts   []floodmark.Fact
}

// Step is the whole monitor in one pure function: given a session and what an
// agent just told us, it returns the facts to keep and the answer to give.
// It does not change s. The caller applies the facts, and passes the reply on only when they are
// durable. With an error the Output is zero, and the zero reply restricts.
func Step(s *State, r Rules, in Input) (Output, error) {
	if err := in.Event.Check(); err != nil {
		return Output{}, err
	}
	st := newStep(s, r, in)
	err := st.heed()
	if err == nil {
		err = st.run()
		if st.ev.Point != hook.AfterLLMCall {
			st.told()
		}
	}
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", in.Event.Point, err)
	}
	return st.out, nil
}

// step is one event being worked on. Its facts are not applied to s; node, mark and more hold what
// a later part of the same event needs of them.
type step struct {
	s    *State
	r    Rules
	in   Input
	ev   *hook.Event // of in
	out  Output
	node floodmark.NodeID // the next free node
	mark floodmark.Label  // the mark with this event's sources
	more provenance.Levels
	// heeded counts the facts about words of the owner in other sessions. brought has the labels of
	// nodes that this event adds and no ledger has.
	heeded  int
	brought map[floodmark.NodeID]floodmark.Label
	book    artifact.Book // see left
	loading bool          // the call being judged would load what the owner may vouch for
	// pause is the pause in effect at this event, zero if there is none. paused says that notePause
	// was called.
	pause  floodmark.Pause
	paused bool
	// hosts are the hosts that the box of the call being judged would let it reach. hostsBy is the
	// grant that lets it.
	hosts   []string
	hostsBy floodmark.TicketID
	// mirror says that this box gets the packages its project has pinned. tried says that the call
	// is tried in this box without what it would fetch.
	mirror, tried bool
}

func newStep(s *State, r Rules, in Input) *step {
	st := &step{s: s, r: r, in: in}
	st.ev = &st.in.Event
	st.node = floodmark.NodeID(s.Ledger.Len())
	st.mark, st.more = s.Ledger.Mark(), s.Ledger.Levels()
	st.pause = st.wantedPause()
	return st
}

func (st *step) run() error {
	st.out.Reply.Decision.Verdict, st.out.Reply.Decision.Reach = floodmark.Allow, floodmark.Free
	if st.ev.Point == hook.SessionStart {
		return st.sessionStart()
	}
	st.ensureOpen()
	st.ensureRules()
	switch st.ev.Point {
	case hook.SessionStart: // above
	case hook.MessageReceived:
		return st.messageReceived()
	case hook.ContextAssembled:
		st.contextAssembled()
	case hook.LoopIterationStart:
		st.iterationStart()
	case hook.BeforeLLMCall:
		st.beforeModel()
	case hook.AfterLLMCall:
		st.told() // before the answer ends what it is about
		st.afterModel()
	case hook.BeforeToolCall:
		st.beforeTool()
	case hook.AfterToolCall:
		st.afterTool()
	case hook.LoopIterationEnd:
	case hook.BeforeResponseEmit:
		st.beforeReply()
	case hook.SubagentSpawned:
		return st.spawned()
	case hook.SubagentEnded:
		return st.ended()
	case hook.SessionEnd:
		st.sessionEnd()
	}
	return nil
}

// keep notes a fact.
func (st *step) keep(f floodmark.Fact) { st.out.Facts = append(st.out.Facts, f) }

// see notes a source and returns its node.
func (st *step) see(src floodmark.Source, text string) floodmark.NodeID {
	return st.seeAs(floodmark.ContentSeen{Source: src}, text)
}

// seeAs is see for a fact that carries more than the source. The text is
// indexed, never kept.
func (st *step) seeAs(f floodmark.ContentSeen, text string) floodmark.NodeID {
	f.Node = st.node
	st.node++
	st.secrets().Guard(&f, text)
	label := f.Own()
	if f.Whole {
		label = label.Join(st.mark)
	}
	for _, n := range f.Inputs {
		label = label.Join(st.effective(n))
	}
	st.mark, st.more = st.mark.Join(label), st.more|provenance.LevelsOf(label.Trust)
	st.keep(f)
	if text != "" {
		st.out.Indexed = append(st.out.Indexed, Indexed{Node: f.Node, Digest: f.Digest, Text: text})
	}
	return f.Node
}

// decide notes and answers an action.
func (st *step) decide(a floodmark.Action, mark floodmark.Label, trust floodmark.Trust, d floodmark.Decision, b floodmark.Basis) {
	st.notePause()
	b.Before = len(st.out.Facts) - st.heeded
	st.keep(floodmark.ActionDecided{Action: a, Mark: mark, Trust: trust, Decision: d, Basis: &b})
	st.out.Reply.Decision = d
}
