package story

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// A world is everything around the monitor in a story: sessions, a clock, an owner with an
// authenticated channel, and perhaps an auditor and verifiers.
type world struct {
	rules    kernel.Rules
	now      time.Time
	key      provenance.Key
	sessions map[floodmark.SessionID]*session
	contents map[floodmark.Digest]provenance.Postings // the index of each content
	store    *store
	order    []floodmark.SessionID
	agent    string
	boxes    bool       // the agent's hook can run commands in a box
	push     *hook.Push // what a push would send, if it is reviewed
	current  floodmark.SessionID

	tickets   int
	code      string                        // the last code the owner's channel got
	ticket    floodmark.TicketID            // the last question
	questions map[floodmark.TicketID]int    // all questions, and how many calls each shows
	places    map[floodmark.TicketID]string // the place to pick, for questions that need one

	opinion audit.Opinion                // what the auditor says
	reply   hook.Reply                   // the last answer
	out     kernel.Output                // everything that came with the last answer
	asked   string                       // what the auditor was last shown
	gates   map[string]kernel.GateAnswer // answers of verifiers; one without an answer is not asked
	shown   string                       // what verifiers were last shown

	pauses   map[floodmark.SessionID]floodmark.Pause // by session; the empty name is for all sessions
	warnings string                                  // the warnings of loading the policy
}

// A session holds the facts of one session, and the state that follows from them.
type session struct {
	facts []floodmark.Fact
	times []time.Time // of the facts
	state *kernel.State
	index *postings.Memory
	call  hook.Call // the last call, for «returns»
	boxed bool      // the last call runs in a box
}

func newWorld(rules kernel.Rules) *world {
	return &world{
		rules: rules, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		key: provenance.Key{1}, sessions: map[floodmark.SessionID]*session{},
		contents:  map[floodmark.Digest]provenance.Postings{},
		questions: map[floodmark.TicketID]int{},
		gates:     map[string]kernel.GateAnswer{},
		store:     newStore(),
		pauses:    map[floodmark.SessionID]floodmark.Pause{},
		places:    map[floodmark.TicketID]string{},
		agent:     "openclaw", current: "s",
	}
}

// play plays one line: «verb rest -> answer». It returns a mistake if the answer is not the
// expected one, and whether anything was compared.
func (w *world) play(line string) (*Mistake, bool, error) {
	verb, rest := cutVerb(line)
	if verb == "expect" || verb == "mark" {
		rest, err := w.fill(lines(rest))
		if err != nil {
			return nil, false, err
		}
		got, ok, err := w.expect(verb, rest)
		if err != nil || ok {
			return nil, true, err
		}
		return &Mistake{Said: line, Got: got}, true, nil
	}
	if !slices.Contains(verbs(), verb) {
		return nil, false, unknownVerb(verb)
	}
	said, want, asked, err := cutAnswer(verb, line)
	if err != nil {
		return nil, false, err
	}
	_, rest = cutVerb(said)
	if rest, err = w.fill(rest); err != nil {
		return nil, false, err
	}
	got, err := w.act(verb, rest)
	switch {
	case err != nil:
		return nil, false, err
	case !asked && strings.HasPrefix(got, "error "):
		return &Mistake{Said: said, Got: got}, false, nil // unexpected
	case asked && got != want:
		return &Mistake{Said: said, Want: want, Got: got + w.detail()}, true, nil
	}
	return nil, asked, nil
}

func cutVerb(line string) (verb, rest string) {
	i := strings.IndexFunc(line, unicode.IsSpace)
	if i < 0 {
		return line, ""
	}
	return line[:i], strings.TrimSpace(line[i:])
}

// detail returns the first reason of the last answer, for the writer of a story.
func (w *world) detail() string {
	for _, r := range w.reply.Decision.Reasons {
		return fmt.Sprintf(" (%s: %s)", r.Rule, r.Text)
	}
	return ""
}

// fill replaces $code, $ticket and $place by their values, which only the owner's channel knows.
func (w *world) fill(rest string) (string, error) {
	for _, name := range []string{"$code", "$ticket", "$place"} {
		if w.ticket == "" && strings.Contains(rest, name) {
			return "", fmt.Errorf("nobody was asked anything yet, so there is no %s", name)
		}
	}
	return strings.NewReplacer("$code", w.code, "$ticket", string(w.ticket), "$place", w.places[w.ticket]).Replace(rest), nil
}

// session returns the current session and creates it on first use.
func (w *world) session() *session {
	s, ok := w.sessions[w.current]
	if !ok {
		s = w.add(w.current)
	}
	return s
}

func (w *world) add(id floodmark.SessionID) *session {
	s := &session{state: kernel.NewState(), index: postings.NewMemory()}
	w.sessions[id] = s
	w.order = append(w.order, id)
	return s
}

func (w *world) input(ev hook.Event) kernel.Input {
	s := w.session()
	in := kernel.Input{
		Event: ev, At: w.now, Key: w.key, Index: s.index,
		Code:   fmt.Sprintf("%08x", 0xc0de0000+w.tickets+1),
		Ticket: floodmark.TicketID("t" + strconv.Itoa(w.tickets+1)),

		Artifacts: w.store, Disk: w.store,
		Pause: w.paused(),
	}
	if ev.Point == hook.AfterToolCall {
		in.Altered, w.store.altered = w.store.altered, nil
	}
	if child, ok := w.sessions[ev.Child]; ok {
		in.Child = child.state
	}
	return in
}

// event sends an event to the monitor and applies the reply. An Audit verdict goes to the story's
// auditor at once.
func (w *world) event(ev hook.Event) (string, error) {
	ev.Agent, ev.Session = w.agent, w.current
	in := w.input(ev)
	out, err := kernel.Step(w.session().state, w.rules, in)
	if err != nil {
		w.reply = hook.Reply{}
		return "error " + err.Error(), nil
	}
	if err := w.take(out); err != nil {
		return "", err
	}
	h := kernel.Hearing{Case: out.Case, Opinion: w.opinion}
	if out.Case != nil {
		out, err = kernel.Opine(w.session().state, w.rules, w.input(ev), w.opinion)
		if err != nil {
			return "", err
		}
		if err := w.take(out); err != nil {
			return "", err
		}
	}
	if err := w.verify(ev, out.Verify, h); err != nil {
		return "", err
	}
	return Answer(w.reply.Decision), nil
}

// verify asks the story's verifiers about a call that waits for them, if the story has an answer of
// each.
func (w *world) verify(ev hook.Event, asking *kernel.Asking, h kernel.Hearing) error {
	if asking == nil {
		return nil
	}
	h.Asked, w.shown = *asking, string(asking.Request.Params)
	for _, g := range asking.Gates {
		a, ok := w.gates[g.Name]
		if !ok {
			return nil
		}
		h.Answers = append(h.Answers, a)
	}
	out, err := kernel.Verify(w.session().state, w.rules, w.input(ev), h)
	if err != nil {
		return err
	}
	return w.take(out)
}

// command plays a command of the owner on an authenticated channel.
func (w *world) command(cmd approval.Command) (string, error) {
	cmd.By, cmd.Channel = "owner", "console"
	in := w.input(hook.Event{})
	in.Event.Agent, in.Event.Session = w.agent, w.current
	out, err := kernel.Answer(w.session().state, w.rules, in, cmd)
	if err != nil {
		return "error " + err.Error(), nil
	}
	if err := w.take(out); err != nil {
		return "", err
	}
	return w.reply.Notice, nil
}

// take records the facts of an output, through their encoding, and then applies its reply.
func (w *world) take(out kernel.Output) error {
	for _, c := range out.Indexed {
		w.contents[c.Digest] = w.key.Postings(c.Text)
	}
	if err := w.record(w.session(), out.Facts); err != nil {
		return err
	}
	for _, f := range out.Facts {
		if d, ok := f.(floodmark.ActionDecided); ok {
			w.session().boxed = d.Decision.Contained()
		}
	}
	w.store.take(w.current, len(w.session().facts), out)
	for _, f := range out.Forks {
		if _, ok := w.sessions[f.Session]; ok {
			return fmt.Errorf("session %s exists already", f.Session)
		}
		if err := w.record(w.add(f.Session), f.Facts); err != nil {
			return err
		}
	}
	w.reply, w.out = out.Reply, out
	if out.Case != nil {
		w.asked = out.Case.Prompt().String()
	}
	if w.code != "" && w.leaks(out) {
		return fmt.Errorf("the code %s is in a reply: the model would read it", w.code)
	}
	if out.Ask != nil {
		w.ticket, w.code, w.questions[out.Ask.ID] = out.Ask.ID, out.Ask.Code, out.Ask.Calls
		w.places[out.Ask.ID] = out.Ask.Call.Place()
		w.tickets++
	}
	return nil
}

func (w *world) record(s *session, facts []floodmark.Fact) error {
	for _, f := range facts {
		kind, body, err := factjson.Encode(f)
		if err != nil {
			return err
		}
		f, err = factjson.Decode(kind, body)
		if err != nil {
			return err
		}
		if err := s.state.Apply(f); err != nil {
			return err
		}
		s.facts, s.times = append(s.facts, f), append(s.times, w.now)
		for node, digest := range floodmark.Placed(f) {
			s.index.Add(node, w.contents[digest])
		}
	}
	return nil
}

// leaks reports whether a reply to the agent contains a code.
func (w *world) leaks(out kernel.Output) bool {
	text, err := json.Marshal(out.Reply)
	return err != nil || strings.Contains(string(text), w.code) || out.Ask != nil && out.Ask.Code != "" && strings.Contains(string(text), out.Ask.Code)
}

// restart rebuilds the state of all sessions from their facts.
func (w *world) restart() error {
	for id, s := range w.sessions {
		state, err := kernel.Replay(s.facts)
		if err != nil {
			return fmt.Errorf("replay %s: %w", id, err)
		}
		s.state = state
	}
	return nil
}
