// Package kernel is the reference monitor's pure part: the state of a session
// and what follows from it. It reads no clock, draws no random number, starts
// no goroutine and opens nothing; time, codes and keys come in as values. Given
// the same facts it gives the same answers, which is what makes a journal proof.
package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/rules/rounds"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/kernel/recent"
	"github.com/floodmark/floodmark/provenance"
)

// A State is everything true of a session because of the facts so far. It
// changes only by [State.Apply]; the zero State is a session that was not opened.
type State struct {
	Agent string `json:"agent,omitempty"`
	// Parent is the session that began this one. Root is the first of its ancestors, if that is not
	// Parent. Inherited is how many sources Parent handed on. Children are the sessions that this
	// one began.
	Parent    floodmark.SessionID   `json:"parent,omitempty"`
	Root      floodmark.SessionID   `json:"root,omitempty"`
	Inherited floodmark.NodeID      `json:"inherited,omitempty"`
	Children  []floodmark.SessionID `json:"children,omitempty"`
	Opened    bool                  `json:"opened,omitempty"`
	Acted     bool                  `json:"acted,omitempty"` // something was decided in it
	Project   string                `json:"project,omitempty"`
	Home      string                `json:"home,omitempty"`
	PushesTo  floodmark.Digest      `json:"pushesTo,omitzero"`
	Key       string                `json:"key,omitempty"`    // the name of the key it began with
	Commit    string                `json:"commit,omitempty"` // the commit that was checked out when it began
	Policy    floodmark.Digest      `json:"policy,omitzero"`
	Catalog   floodmark.Digest      `json:"catalog,omitzero"`

	Turn    int  `json:"turn,omitempty"`
	InTurn  bool `json:"inTurn,omitempty"`
	Stopped bool `json:"stopped,omitempty"` // the turn was ended by a rule
	rounds.Count

	// Spelled is how many bits requests could have told, since private data was read, by what was
	// chosen in them. A child gets half of what is left, so every later bit counts twice in both
	// sessions. Halved is how often that had happened when this session began.
	Spelled int `json:"spelled,omitempty"`
	Halved  int `json:"halved,omitempty"`

	// Unseen says that a call ran in this session without being allowed.
	Unseen bool `json:"unseen,omitempty"`

	Ledger provenance.Ledger `json:"ledger"`
	// Owner are the owner's own messages, for the auditor and for the stated values. Said are the
	// turns of these messages, in the same order.
	Owner []string `json:"owner,omitempty"`
	Said  []int    `json:"said,omitempty"`
	// TurnBegan is how many messages Owner had when the turn began, and LastTurnBegan how many when
	// the turn before it began.
	TurnBegan     int `json:"turnBegan,omitempty"`
	LastTurnBegan int `json:"lastTurnBegan,omitempty"`

	// Context is the mark of the newest model call; Proposed are the calls of
	// its response, which are judged at that mark.
	Context  *Context             `json:"context,omitempty"`
	Proposed []floodmark.Proposed `json:"proposed,omitempty"`

	artifact.Trail

	// Refused are the calls of this turn that were not let through.
	Refused []Refused `json:"refused,omitempty"`
	// Running are the calls of servers' tools that were let through and have no result yet, and the
	// calls that a gateway matched.
	Running recent.Calls `json:"running,omitempty"`
	// Let are the newest calls that were let through, for callers that ask again.
	Let recent.Lets `json:"let,omitempty"`

	Book approval.Book `json:"book"`

	// Pauses are the pauses this session was told of. In the monitor's own session they are all
	// pauses that the owner wants: at most one for each session, and one for all sessions.
	Pauses []floodmark.Pause `json:"pauses,omitempty"`

	stated language.Stated // folded from Owner
}

// A Refused is a call that was not let through.
type Refused struct {
	Call floodmark.CallID  `json:"call"`
	Tool floodmark.ToolRef `json:"tool"`
	Args floodmark.Digest  `json:"args"`
}

// A Context says what a session had seen when it made a model call.
type Context struct {
	Mark   floodmark.Label   `json:"mark"`
	Levels provenance.Levels `json:"levels"`
	// Nodes is how many nodes there were: nothing newer can have been in it.
	Nodes floodmark.NodeID `json:"nodes"`
	// Answered says that a response to it was seen. A second response cannot
	// be to this call: another model call was not reported.
	Answered bool `json:"answered,omitempty"`
}

// The most calls of one turn that a state keeps. If there are more, it keeps the newest.
const (
	maxProposed = 256
	maxRefused  = 256
)

// NewState returns the state before any fact.
func NewState() *State { return &State{} }

// Replay returns the state after facts.
func Replay(facts []floodmark.Fact) (*State, error) {
	s := NewState()
	for i, f := range facts {
		if err := s.Apply(f); err != nil {
			return nil, fmt.Errorf("fact %d: %w", i, err)
		}
	}
	return s, nil
}

// Origin returns the session that this one, whose name is own, descends from;
// own if it has no parent.
func (s *State) Origin(own floodmark.SessionID) floodmark.SessionID {
	return cmp.Or(s.Root, s.Parent, own)
}

// Mark returns the session's high-water mark.
func (s *State) Mark() floodmark.Label { return s.Ledger.Mark() }

// Apply takes one more fact into account. On error s is unchanged.
func (s *State) Apply(f floodmark.Fact) error {
	if err := s.apply(f); err != nil {
		return err
	}
	if len(s.Book.Grants) > 0 {
		s.Book.Sink(s.Mark())
	}
	return nil
}

func (s *State) apply(f floodmark.Fact) error {
	if !s.Opened {
		switch f.(type) {
		case floodmark.SessionOpened, floodmark.SessionForked:
		default:
			return errors.New("kernel: the session was never opened")
		}
	}
	switch f := f.(type) {
	case floodmark.SessionOpened, floodmark.SessionForked:
		return s.open(f)
	case floodmark.SessionClosed, floodmark.OpinionGiven, floodmark.VerifierAnswered, floodmark.LoopTold:
		return nil // kept for the reader of the journal
	case floodmark.IncidentSeen:
		if ranUnseen(f.Kind) {
			s.Unseen = true
			s.Book.Changed("", floodmark.Digest{})
		}
	case floodmark.ChildSpawned:
		s.Children = append(s.Children, f.Child)
		s.Book.Changed("", floodmark.Digest{})
	case floodmark.RulesLoaded:
		if s.Policy != f.Policy || s.Catalog != f.Catalog {
			s.Let.End()
		}
		s.Policy, s.Catalog = f.Policy, f.Catalog
	case floodmark.ContextCleared:
		s.clear()
	case floodmark.TurnOpened:
		s.openTurn(f)
	case floodmark.TurnClosed:
		s.closeTurn()
	case floodmark.IterationOpened:
		s.RoundBegan(f.Iteration)
	case floodmark.ContentSeen:
		return s.see(f)
	case floodmark.ContentArrived:
		return s.arrive(f)
	case floodmark.CallFollowed:
		s.Running.Match(f)
	case floodmark.ModelAnswered:
		s.answered(f)
	case floodmark.ActionDecided:
		s.decided(f)
	case floodmark.ChildEnded:
		err := s.adopt(f.Sources)
		s.Heard = s.Heard || err == nil
		return err
	case floodmark.ArtifactRead, floodmark.ArtifactWritten, floodmark.ArtifactSettled, floodmark.ArtifactsKept, floodmark.FilesCleaned:
		return s.artifact(f)
	case floodmark.Endorsed:
		s.Ledger.Endorse(f)
	case floodmark.Withdrawn:
		s.Ledger.Withdraw(f.Digest)
		s.Book.Changed("", floodmark.Digest{})
	default:
		return s.applyBook(f)
	}
	return nil
}

// ranUnseen reports whether an incident says that something ran without being allowed.
func ranUnseen(kind string) bool {
	switch kind {
	case "unmediated-call", "refused-call-ran", "unseen-session", "box-not-used":
		return true
	}
	return false
}

// applyBook takes in the facts of asking.
func (s *State) applyBook(f floodmark.Fact) error {
	switch f := f.(type) {
	case floodmark.TicketOpened:
		s.Book.Open(f, s.Turn)
	case floodmark.TicketExtended:
		s.Book.Extend(f)
	case floodmark.TicketCounted:
		s.Book.Count(f)
	case floodmark.TicketRefused:
		s.Book.Refuse(f)
	case floodmark.TicketAnswered:
		s.Book.Answer(f)
		if f.Verdict == floodmark.Restrict {
			s.Let.End()
		}
	case floodmark.GrantGiven:
		s.Book.Give(f)
		s.Came = false // the call is of the round in which it was asked about
	case floodmark.GrantUsed:
		s.Book.Use(f, floodmark.NodeID(s.Ledger.Len()))
	case floodmark.GrantEnded:
		s.Book.End(f.Ticket)
		s.Let.End()
	case floodmark.PauseBegan:
		s.endPause(f.Session)
		s.Pauses = append(s.Pauses, f.Pause)
	case floodmark.PauseEnded:
		s.endPause(f.Session)
		s.Let.End()
	default:
		return fmt.Errorf("kernel: no rule for fact %T", f)
	}
	return nil
}

func (s *State) open(f floodmark.Fact) error {
	if s.Opened {
		return errors.New("kernel: session opened twice")
	}
	if fork, ok := f.(floodmark.SessionForked); ok {
		if err := s.adopt(fork.Sources); err != nil {
			return err
		}
		for _, e := range fork.Endorsed {
			s.Ledger.Endorse(e)
		}
		for _, text := range fork.Stated {
			s.hear(text)
		}
		s.Agent, s.Parent, s.Root, s.Project, s.Home, s.Key = fork.Agent, fork.Parent, fork.Root, fork.Project, fork.Home, fork.Key
		s.Spelled, s.Halved = fork.Spelled, fork.Halved
		s.Inherited = floodmark.NodeID(s.Ledger.Len())
		s.TurnBegan = min(fork.Asked, len(s.Owner))
		s.LastTurnBegan = s.TurnBegan
	}
	if o, ok := f.(floodmark.SessionOpened); ok {
		s.Agent, s.Project, s.Home, s.PushesTo, s.Key, s.Commit = o.Agent, o.Project, o.Home, o.PushesTo, o.Key, o.Commit
	}
	s.Opened = true
	return nil
}

// adopt takes over the sources of another session.
func (s *State) adopt(sources []floodmark.Source) error {
	if err := s.Ledger.AddAll(sources); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return nil
}

// artifact takes in a fact about artifacts.
func (s *State) artifact(f floodmark.Fact) error {
	if read, ok := f.(floodmark.ArtifactRead); ok {
		if err := s.adopt(read.Sources); err != nil {
			return err
		}
	}
	s.Take(f)
	return nil
}

func (s *State) see(f floodmark.ContentSeen) error {
	if err := s.Ledger.Add(f.Source); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	if f.Origin.Kind == floodmark.FromCheckout {
		s.Carry(f.Source)
	}
	s.Came = s.Came || s.InTurn && f.Kind == floodmark.NodeToolResult && !f.Digest.IsZero()
	if f.Text != "" {
		s.hear(f.Text)
	}
	s.Heard = s.Heard || f.Origin.Kind == floodmark.FromChild
	s.Book.Gave(f.Call, s.Ledger.Effective(f.Node))
	if f.SaidByOthers() {
		s.Book.Hear()
	}
	if f.IsMessage() {
		s.Heard = true
		own := f.Origin.IsOwner && f.Origin.Group == ""
		if own || s.Parent != "" {
			s.FirstRound() // the owner's words, or a new task of a sub-agent
		}
		if own {
			s.Book.Denials = nil // the owner may have changed their mind
		}
	}
	return nil
}

// arrive takes in what a call gave back.
func (s *State) arrive(f floodmark.ContentArrived) error {
	src, _ := s.Ledger.Source(f.Node) // before it arrives it names its call
	was := s.Ledger.Effective(f.Node)
	if err := s.Ledger.Arrive(f); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	s.Came = s.InTurn
	s.Running.Result(src.Call)
	s.Let.Result(f, src.Call)
	s.Book.BoxEnded(f, src.Call)
	now := s.Ledger.Effective(f.Node)
	if now.Trust < min(was.Trust, floodmark.Local) {
		s.Book.Fell(src.Call)
	}
	s.Book.Gave(src.Call, now)
	return nil
}

func (s *State) hear(text string) {
	s.Owner, s.Said = append(s.Owner, text), append(s.Said, s.Turn)
	s.stated.Add(text)
}

func (s *State) answered(f floodmark.ModelAnswered) {
	s.Proposed = lists.Last(slices.Clone(f.Calls), maxProposed)
	if s.Context == nil || s.Context.Answered || f.Hosted {
		s.Context = s.context(s.Ledger.Mark())
	}
	s.Context.Answered = true
}

func (s *State) decided(f floodmark.ActionDecided) {
	s.Acted = true
	switch f.Action.Kind {
	case floodmark.CallModel:
		s.Stopped = s.Stopped || f.Decision.Verdict == floodmark.Restrict
		s.ModelCalled(f.Action.Iteration)
		s.Context = s.context(f.Mark)
		s.Proposed = nil
	case floodmark.CallTool:
		s.Called(f.Action.Iteration, f.Decision.Verdict == floodmark.Restrict || f.Decision.Verdict == floodmark.Confirm)
		s.Offer(f)
		if !waits(f.Decision) { // else it is judged once more, by the same right
			s.Proposed = lists.Without(s.Proposed, func(p floodmark.Proposed) bool { return p.Call == f.Action.Call })
		}
		if f.Decision.Verdict == floodmark.Allow {
			s.Book.Ran(f.Action.Call, grantedBy(f.Decision))
		}
		if f.Decision.Verdict == floodmark.Allow && !waits(f.Decision) {
			s.Running.Add(f.Action, s.Ledger.Mark())
			s.Let.Add(f.Action, f.Decision.Reach, s.Ledger.Mark())
			s.Book.Boxes(f.Action, f.Decision.Reach)
			s.Move(f.Basis, s.Project)
			if f.Basis != nil && f.Mark.Secrecy <= floodmark.Private {
				s.Spelled += f.Basis.Tells << s.share()
			}
		} else {
			s.Running.Forget(f.Action)
			s.Let.Forget(f.Action)
		}
		r := Refused{Call: f.Action.Call, Tool: f.Action.Tool, Args: f.Action.ArgsDigest}
		same := func(o Refused) bool { return o.Call == r.Call || o.Tool == r.Tool && o.Args == r.Args }
		s.Refused = lists.Without(s.Refused, same)
		if f.Decision.Verdict < floodmark.Allow || waits(f.Decision) {
			s.Refused = lists.Last(append(s.Refused, r), maxRefused)
		}
		s.changed(f)
	case floodmark.SendReply, floodmark.SpawnAgent:
	}
}

// share returns how often what this session may still tell was halved.
func (s *State) share() int { return min(s.Halved+len(s.Children), maxHalved) }

// changed tells the book of an allowed call.
func (s *State) changed(f floodmark.ActionDecided) {
	switch by, a := grantedBy(f.Decision), f.Action; {
	case f.Decision.Verdict != floodmark.Allow:
	case slices.ContainsFunc(a.Effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch }):
		s.Book.Changed(by, a.ArgsDigest)
	default:
		s.Book.Follows(a.Tool, by, a.ArgsDigest)
	}
}

// grantedBy returns the question whose approval let a call through.
func grantedBy(d floodmark.Decision) floodmark.TicketID {
	for _, r := range d.Reasons {
		if r.Code == floodmark.Granted {
			return floodmark.TicketID(r.Rule)
		}
	}
	return ""
}

func (s *State) context(mark floodmark.Label) *Context {
	return &Context{Mark: mark, Levels: s.Ledger.Levels(), Nodes: floodmark.NodeID(s.Ledger.Len())}
}

func (s *State) clear() {
	s.Ledger.Clear()
	s.Book.Void()
	s.Context, s.Proposed, s.Refused = nil, nil, nil
	s.Written, s.Offered, s.Running, s.Let, s.Spelled = nil, nil, nil, nil, 0
}

func (s *State) openTurn(f floodmark.TurnOpened) {
	s.Turn, s.InTurn, s.Stopped = f.Turn, true, false
	s.FirstRound()
	if s.Parent == "" { // a branch has its parent's words, and no turn changes them
		s.LastTurnBegan, s.TurnBegan = s.TurnBegan, len(s.Owner)
	}
}

func (s *State) closeTurn() {
	s.InTurn, s.Stopped = false, false
	s.FirstRound()
	s.Context, s.Proposed, s.Refused, s.Let = nil, nil, nil, nil
	s.Running.CloseTurn()
	s.Book.CloseTurn()
}

// Forgotten returns the state of a session whose facts were erased when its mark was mark. The
// session is open and has one source of unknown origin with that label: it forgets what was read,
// but not how little that was trusted. It has no stated values, no grants and no open questions.
func Forgotten(mark floodmark.Label) *State {
	if !mark.Valid() {
		mark = floodmark.Label{}
	}
	s := NewState()
	s.Opened = true
	// The first source of an empty ledger, with a valid label and no inputs, is
	// always taken.
	_ = s.Ledger.Add(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "what was erased"},
		Label:  mark,
	})
	return s
}
