package kernel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/provenance"
)

// Whatever several sessions read, write and hand on in any order, and whatever the owner says in
// any of them:
//
//   - a session that has something made from a page is at the page's trust,
//     unless the owner last said that they vouch for the page;
//   - replaying its facts gives its state, as does its snapshot, without any store.
func TestAnyHistoryOfSessionsKeepsTheLaws(t *testing.T) {
	rules := mustRules(t, "version: 1\nprofile: coding\n", "")
	n := 120
	if testing.Short() {
		n = 30
	}
	for seed := range n {
		v := newVillage(rules, uint64(seed))
		for step := range 80 {
			if err := v.one(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
	}
}

// A village is several sessions over one store and one disk.
type village struct {
	rng      *rand.Rand
	rules    kernel.Rules
	store    map[floodmark.ArtifactRef]map[floodmark.SessionID]artifact.Kept
	sessions []*villager
	at       time.Time
	files    map[string]map[string]bool // which pages a file is made from
	said     map[string]bool            // the owner's last word on a page
	n        int
}

// A villager is one session, and the pages that it plainly holds.
type villager struct {
	id     floodmark.SessionID
	state  *kernel.State
	facts  []floodmark.Fact
	holds  map[string]bool
	begun  *hook.Event // a write under way
	file   string
	whole  bool
	brings map[string]bool
}

func newVillage(rules kernel.Rules, seed uint64) *village {
	v := &village{
		rng: rand.New(rand.NewPCG(seed, 2)), rules: rules, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		store: map[floodmark.ArtifactRef]map[floodmark.SessionID]artifact.Kept{}, files: map[string]map[string]bool{}, said: map[string]bool{},
	}
	for i := range 4 {
		v.sessions = append(v.sessions, &villager{id: floodmark.SessionID(fmt.Sprint("s", i)), state: kernel.NewState(), holds: map[string]bool{}})
	}
	return v
}

func (v *village) Find(refs []floodmark.ArtifactRef) (found []artifact.Kept) {
	for _, ref := range refs {
		for _, id := range slices.Sorted(maps.Keys(v.store[ref])) {
			found = append(found, v.store[ref][id])
		}
	}
	return found
}

func (v *village) one() error {
	s := v.sessions[v.rng.IntN(len(v.sessions))]
	v.n++
	v.at = v.at.Add(time.Second)
	if !s.state.Opened {
		return v.tell(s, hook.Event{Point: hook.SessionStart, Project: "/work"})
	}
	page, file := fmt.Sprint("page ", v.rng.IntN(3)), fmt.Sprintf("/work/f%d.txt", v.rng.IntN(3))
	switch v.rng.IntN(9) {
	case 0:
		if err := v.call(s, "WebFetch", map[string]string{"url": "https://news.example/x", "prompt": "x"}, page); err != nil {
			return err
		}
		s.holds[page] = true
	case 1, 2:
		if err := v.call(s, "Read", map[string]string{"file_path": file}, fmt.Sprint("a text of its own ", v.n)); err != nil {
			return err
		}
		maps.Copy(s.holds, v.files[file])
	case 3, 4, 5:
		return v.write(s, file)
	case 6:
		return v.word(s, page, approval.Endorse)
	case 7:
		return v.word(s, page, approval.Withdraw)
	case 8:
		s.begun = nil
		if v.rng.IntN(3) == 0 {
			s.holds = map[string]bool{}
			return v.tell(s, hook.Event{Point: hook.SessionStart, Cause: hook.Clear, ByPerson: true})
		}
	}
	return v.check(s)
}

// write begins a write of a file, or ends the write that is under way.
func (v *village) write(s *villager, file string) error {
	if s.begun != nil {
		ev := *s.begun
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: "written"}
		s.begun = nil
		if s.whole {
			v.files[s.file] = s.brings
		}
		return v.tell(s, ev)
	}
	s.file, s.whole, s.brings = file, v.rng.IntN(2) == 0, maps.Clone(s.holds)
	tool, args := "Edit", map[string]string{"file_path": file, "old_string": "a", "new_string": "b"}
	if s.whole {
		tool, args = "Write", map[string]string{"file_path": file, "content": fmt.Sprint("text ", v.n)}
	} else if v.files[file] == nil {
		v.files[file] = maps.Clone(s.holds)
	} else {
		maps.Copy(v.files[file], s.holds)
	}
	ev := v.event(tool, args)
	s.begun = &ev
	if s.whole && v.files[file] == nil {
		v.files[file] = map[string]bool{}
	}
	return v.tell(s, ev)
}

func (v *village) event(tool string, args map[string]string) hook.Event {
	body, _ := json.Marshal(args)
	return hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(fmt.Sprint("c", v.n)), Name: tool, Args: body}}
}

func (v *village) call(s *villager, tool string, args map[string]string, text string) error {
	ev := v.event(tool, args)
	if err := v.tell(s, ev); err != nil {
		return err
	}
	ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: text}
	return v.tell(s, ev)
}

func (v *village) word(s *villager, page string, verb approval.Verb) error {
	cmd := approval.Command{Verb: verb, Digest: floodmark.DigestOf(page).String(), By: "owner"}
	out, err := kernel.Answer(s.state, v.rules, v.input(s, hook.Event{}), cmd)
	if err != nil {
		return err
	}
	for _, a := range out.Artifacts {
		v.said[page] = a.Vouch.Trust > floodmark.External
	}
	return v.take(s, out)
}

func (v *village) input(s *villager, ev hook.Event) kernel.Input {
	ev.Agent, ev.Session = "claude-code", s.id
	return kernel.Input{
		Event: ev, At: v.at, Key: provenance.Key{7}, Index: postings.NewMemory(), Artifacts: v,
		Code: fmt.Sprintf("%08x", v.n), Ticket: floodmark.TicketID(fmt.Sprint("t", v.n)),
	}
}

func (v *village) tell(s *villager, ev hook.Event) error {
	out, err := kernel.Step(s.state, v.rules, v.input(s, ev))
	if err != nil {
		return err
	}
	return v.take(s, out)
}

func (v *village) take(s *villager, out kernel.Output) error {
	for _, f := range out.Facts {
		f, err := roundTrip(f)
		if err != nil {
			return err
		}
		if err := s.state.Apply(f); err != nil {
			return err
		}
		s.facts = append(s.facts, f)
	}
	for _, g := range out.Gone {
		if old, ok := v.store[g.Ref][g.Version.Session]; ok && old.Version.Seq <= g.Version.Seq {
			delete(v.store[g.Ref], g.Version.Session)
		}
	}
	for _, a := range out.Artifacts {
		if v.store[a.Ref] == nil {
			v.store[a.Ref] = map[floodmark.SessionID]artifact.Kept{}
		}
		version := floodmark.ArtifactVersion{Session: s.id, Seq: uint64(len(s.facts))}
		v.store[a.Ref][s.id] = artifact.Kept{Version: version, Artifact: a}
	}
	if len(out.Artifacts)+len(out.Gone) > 0 && len(out.Facts) == 0 {
		return errors.New("something is left behind without a fact")
	}
	return nil
}

// check tells a session what the owner said, and checks the laws on it.
func (v *village) check(s *villager) error {
	if err := v.tell(s, hook.Event{Point: hook.LoopIterationEnd}); err != nil {
		return err
	}
	doubted := false
	for page := range s.holds {
		doubted = doubted || !v.said[page]
	}
	mark := s.state.Mark()
	if doubted && mark.Trust != floodmark.Untrusted {
		return fmt.Errorf("%s holds %v (the owner said %v), and is at %s", s.id, s.holds, v.said, mark)
	}
	again, err := kernel.Replay(s.facts)
	if err != nil || !reflect.DeepEqual(again, s.state) {
		return fmt.Errorf("replay differs: %w\n%+v\n%+v", err, again, s.state)
	}
	data, err := s.state.Snapshot()
	if err != nil {
		return err
	}
	restored, err := kernel.Restore(data)
	if err != nil || !reflect.DeepEqual(restored, s.state) {
		return fmt.Errorf("the snapshot differs: %w\n%+v\n%+v", err, restored, s.state)
	}
	return nil
}
