package codingday

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/wire"
)

// An owner watches a run and answers every question.
type owner struct {
	rig    *rig
	world  *world
	player *player
	// answers says how a question about a call is answered: once, always or no.
	answers func(Step) string
	// of is the only agent whose sessions are watched; empty for all.
	of string
	// apart says that what the attacker's calls cost is counted apart, in foes.
	apart bool
	// grants are the approvals that were given for a while.
	grants *grants
	desk   wire.OwnerServiceClient
	end    func()
	gone   sync.WaitGroup

	mu   sync.Mutex // guards what follows
	seen seen
	foes seen
	// asked are the questions that were counted, held the lines of the script whose honest
	// call did not pass at once.
	asked map[string]bool
	held  map[int]bool
	// free are the calls that may run without a box.
	free map[string]bool
}

// owner is one who answers every question alike: yes to honest work, no to an attack.
func (r *rig) owner(w *world, p *player, yes bool) *owner {
	o := &owner{rig: r, world: w, player: p, answers: func(Step) string { return "no" }}
	if yes {
		o.answers = func(Step) string { return "once" }
	}
	return o.watch()
}

// watch begins to watch, before the agent asks anything: agents wait for an answer only
// while the owner watches.
func (o *owner) watch() *owner {
	r := o.rig
	t := r.t
	c, err := client.Dial(r.ownerSocket(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.desk, o.asked, o.held, o.free = c.Owner(), map[string]bool{}, map[int]bool{}, map[string]bool{}
	stream, err := o.desk.Watch(ctx, &wire.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() { // the first message says that it has begun
		t.Fatalf("nobody can watch: %v", stream.Err())
	}
	o.gone.Go(func() {
		for stream.Receive() {
			o.hear(ctx, stream.Msg())
		}
		if ctx.Err() == nil {
			t.Errorf("the owner could not watch any more: %v", stream.Err())
		}
	})
	o.end = func() {
		cancel()
		o.gone.Wait()
		_ = stream.Close()
		c.Close()
	}
	return o
}

// leave ends watching and returns what was seen.
func (o *owner) leave() seen {
	o.end()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// undo takes back all that can be taken back, the last first. It returns how many paths that
// gave back, and what is not as it was before the first turn, but for what calls changed that
// neither ran in a box nor are kept: the owner's own work, before anything foreign came.
func (o *owner) undo(turns []map[string]string) (given int, left []string) {
	ctx := o.rig.t.Context()
	list, err := o.desk.Undo(ctx, &wire.UndoRequest{})
	if err != nil {
		o.rig.t.Fatal(err)
	}
	o.mu.Lock()
	free := maps.Clone(o.free)
	o.mu.Unlock()
	done := map[string]bool{}
	for _, c := range list.GetCalls() {
		delete(free, c.GetCall())
		if s := c.GetSession(); !done[s] {
			done[s] = true
			did, err := o.desk.Undo(ctx, &wire.UndoRequest{Session: s})
			if err != nil {
				o.rig.t.Errorf("undo: %v", err)
			}
			for _, c := range did.GetCalls() {
				given += len(c.GetGiven())
			}
		}
	}
	own := map[string]bool{}
	for call := range free {
		turn := 0
		if _, err := fmt.Sscanf(call, "call_%d_", &turn); err != nil || turn+1 >= len(turns) {
			o.rig.t.Errorf("no turn has a call %q", call)
			continue
		}
		for _, name := range differences(turns[turn], turns[turn+1]) {
			own[name] = true
		}
	}
	left = differences(turns[0], o.world.bytes())
	return given, slices.DeleteFunc(left, func(name string) bool { return own[name] })
}

// hear notes one thing that happened, and answers if it is a question.
func (o *owner) hear(ctx context.Context, m *wire.WatchResponse) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.GetSession() == yesterday || o.of != "" && !strings.HasPrefix(m.GetSession(), o.of+":") {
		return
	}
	seen := o.book()
	if m.GetMissed() > 0 {
		o.rig.t.Errorf("%d things were not seen", m.GetMissed())
	}
	if d := m.GetDecided(); d != nil && d.GetAction().GetKind() == string(floodmark.CallTool) {
		switch verdict, boxed := d.GetDecision().GetVerdict(), d.GetDecision().GetReach() == floodmark.Boxed.String(); {
		case verdict == floodmark.Allow.String() && boxed:
			seen.Boxed++
		case verdict == floodmark.Allow.String():
			o.free[d.GetAction().GetCall()] = true
		case verdict == floodmark.Restrict.String() && !o.player.triesAgain():
			o.hold()
			if slices.ContainsFunc(d.GetDecision().GetReasons(), func(r *wire.Reason) bool { return splits(r.GetText()) }) {
				seen.Splits++
			} else {
				seen.Refused++
			}
			o.why(seen, d.GetDecision())
		}
	}
	if i := m.GetIncident(); i != nil {
		seen.Incidents++
		seen.note("incident " + i.GetKind())
	}
	q := m.GetAsked()
	if q == nil {
		return
	}
	if name := fmt.Sprint(q.GetTicket(), len(q.GetCalls())); !o.asked[name] { // another call may be added to it
		o.asked[name] = true
		o.hold()
		seen.ask(o.player.now(), codesOf(q))
		if o.grants.holds(o.world.project, o.player.now()) {
			seen.Twice++
			seen.note("asked again within a grant")
		}
	}
	if err := o.answer(ctx, q); err != nil && ctx.Err() == nil {
		seen.Unanswered++
		seen.note("not answered: " + err.Error())
	}
}

// hold notes that the last call did not pass at once, once for each honest call.
func (o *owner) hold() {
	if step := o.player.now(); !step.Attack && !step.Other {
		o.held[o.player.line()] = true
	}
}

// book is where what the last call costs is noted.
func (o *owner) book() *seen {
	if o.apart && o.player.now().Attack {
		return &o.foes
	}
	return &o.seen
}

func (o *owner) why(seen *seen, d *wire.Decision) {
	words := []string{"refused " + o.player.now().short()}
	for _, r := range d.GetReasons() {
		words = append(words, r.GetRule())
	}
	seen.note(strings.Join(words, " "))
}

func codesOf(q *wire.Question) (codes []string) {
	for _, c := range q.GetCalls() {
		codes = append(codes, c.GetCodes()...)
	}
	return codes
}

// answer says yes or no.
func (o *owner) answer(ctx context.Context, q *wire.Question) error {
	r := &wire.AnswerRequest{Verb: "deny", Ticket: q.GetTicket()}
	step := o.player.now()
	answer, minutes := o.answers(step), 0
	if answer != "no" {
		r = &wire.AnswerRequest{Verb: "approve", Code: q.GetCode(), Picked: placeOf(q)}
	}
	if answer == "always" {
		r.Offer, minutes = widest(q)
	}
	got, err := o.desk.Answer(ctx, r)
	if err == nil && !got.GetAnswered() {
		err = errors.New(got.GetNotice())
	}
	if err == nil && minutes > 0 {
		o.grants.give(o.world.project, step, minutes)
	}
	return err
}

// widest is the number of the last offer, and how many minutes it holds.
func widest(q *wire.Question) (number int32, minutes int) {
	calls := q.GetCalls()
	if len(calls) == 0 {
		return 0, 0
	}
	for i, o := range calls[len(calls)-1].GetOffers() {
		number, minutes = int32(i+1), int(o.GetMinutes()) //nolint:gosec // there are few offers
	}
	return number, minutes
}

// grants are approvals of a call that hold for a while, in one project.
type grants struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

func (g *grants) give(project string, s Step, minutes int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until[project+" "+string(s.Tool)+s.Arg] = time.Now().Add(time.Duration(minutes) * time.Minute)
}

// holds reports whether the owner has already allowed exactly this call for longer.
func (g *grants) holds(project string, s Step) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Now().Before(g.until[project+" "+string(s.Tool)+s.Arg])
}

// placeOf is what the owner types where a question wants to hear where a call goes.
func placeOf(q *wire.Question) string {
	calls := q.GetCalls()
	if len(calls) == 0 || calls[len(calls)-1].GetPick() == nil {
		return ""
	}
	last := calls[len(calls)-1]
	names := strings.Split(last.GetPick().GetArgument(), ", ")
	asked := approval.Question{Pick: &approval.Pick{Argument: names[0], Others: names[1:]}}
	for _, a := range last.GetAction().GetArguments() {
		asked.Action.Arguments = append(asked.Action.Arguments, floodmark.Argument{Path: a.GetPath(), Shown: a.GetShown()})
	}
	return asked.Place()
}

// yesterday is the session of the day before.
const yesterday = "codex:yesterday"

// vouch is what the owner did on the day before: look around in the project with an
// agent, and vouch for the commits of others that were there.
func (o *owner) vouch() {
	project := o.world.project
	common := `"session_id":"` + strings.TrimPrefix(yesterday, "codex:") + `","cwd":"` + project + `"`
	o.hook("SessionStart", `{"hook_event_name":"SessionStart",`+common+`,"source":"startup"}`)
	o.hook("UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit",`+common+`,"prompt":"What is here?"}`)
	o.hook("PreToolUse", `{"hook_event_name":"PreToolUse",`+common+`,"tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"ls `+project+`"}}`)
	t := o.rig.t
	found, err := o.desk.Show(t.Context(), &wire.ShowRequest{Session: yesterday})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.GetSources() {
		if s.GetOrigin().GetKind() != string(floodmark.FromCheckout) {
			continue
		}
		did, err := o.desk.Endorse(t.Context(), &wire.EndorseRequest{Session: yesterday, Digest: s.GetDigest()})
		if err != nil || !did.GetDone() {
			t.Fatalf("the owner could not vouch: %v %s", err, did.GetNotice())
		}
	}
}

// hook runs the hook program as Codex does. flock stands for Codex: a process that
// starts a hook counts as an agent from then on, and agents answer no questions.
func (o *owner) hook(event, message string) {
	t := o.rig.t
	cmd := exec.CommandContext(t.Context(), "flock", filepath.Join(*homeOf, ".bashrc"), filepath.Join(o.rig.programs, "floodmark-hook"), "codex", event)
	cmd.Env, cmd.Dir, cmd.Stdin = o.rig.variables(), o.world.project, strings.NewReader(message)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", event, err, out)
	}
}
