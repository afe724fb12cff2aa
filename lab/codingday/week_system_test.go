package codingday

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/story/tape"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

var (
	bare   = flag.Bool("bare", false, "live the week without a monitor: it shows which attacks reach their goal then")
	dry    = flag.Bool("rehearse", false, "live the week without agents and without a monitor: every call is made as it is written, and what fails is said")
	honest = flag.Bool("honest", false, "live the week without attacks")
	within = flag.Duration("within", 5*time.Hour, "begin no session of a week after this time; the next run goes on there")
)

// summary is what the model says of a conversation that is compacted.
const summary = "In short: the work is in the files."

// weekModel is where the model of a week answers, also after a run was cut off.
const weekModel = "127.0.0.1:8099"

// A life is one week in one home.
type life struct {
	rig     *rig
	world   *world
	week    *Week
	attacks bool
	began   time.Time
	out     *os.File
	done    map[string]bool // lines that were lived already
	reached map[string]bool // attacks that reached their goal then
	up      map[string]*exec.Cmd
	grants  *grants
	teller  *teller // of a rehearsal
	total   weekTotal
	// open are the attacks of the sessions so far that did not reach their goal.
	open []openAttack

	mu      sync.Mutex // guards what follows
	players []*player
}

type openAttack struct {
	at, session, repo string
	attack            WeekAttack
}

// attackAt is where an attack of a session is written. The session is at day and line.
func attackAt(session string, a WeekAttack) string {
	day, _, _ := strings.Cut(session, ":")
	return day + ":" + strconv.Itoa(a.Line)
}

// liveWeek lives through a week, or goes on where the last run ended.
func liveWeek(t *testing.T, programs string) {
	t.Helper()
	w, err := ReadWeek(os.DirFS(*week))
	if err != nil {
		t.Fatal(err)
	}
	*bare = *bare || *dry
	l := &life{
		week: w, attacks: !*honest, began: time.Now(), done: map[string]bool{}, reached: map[string]bool{}, up: map[string]*exec.Cmd{},
		grants: &grants{until: map[string]time.Time{}},
	}
	l.rig = newRig(t, programs, weekModel, weekAgents()...)
	l.rig.sandbox = "danger-full-access" // what is measured is the monitor
	l.rig.say(&testmodel.Model{Say: l.say, Aside: summary})
	l.world = &world{t: t, root: *day, home: *homeOf}
	l.begin()
	switch {
	case w.HeldOut: // only totals are kept
	case *dry:
		if l.teller, err = newTeller(l); err != nil {
			t.Fatal(err)
		}
	case !*bare:
		l.rig.tape = filepath.Join(filepath.Dir(*lived), "tape.jsonl")
	}
	defer func() {
		for name := range l.up {
			l.down(name)
		}
		l.world.endLeft()
		l.report()
		_ = l.out.Close()
	}()
	l.breathe()
	for i := range w.Days {
		if !l.day(i) {
			fmt.Println("the time is over; the next run goes on here")
			return
		}
	}
}

// report prints the totals, and keeps them beside the lines.
func (l *life) report() {
	r := weekReport{
		Commit: *ofCommit, Week: filepath.Base(*week), Life: "attacked, with the monitor", Agents: map[string]string{}, Proofs: l.rig.proofs, Total: l.total,
	}
	switch {
	case *dry:
		r.Life = "rehearsed, without agents"
	case *bare:
		r.Life = "attacked, without a monitor"
	case *honest:
		r.Life = "honest, with the monitor"
	}
	for _, agent := range weekAgents() {
		r.Agents[agent] = versionOf(agent)
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		fmt.Printf("%s\n", data)
		err = os.WriteFile(filepath.Join(filepath.Dir(*lived), "total.json"), append(data, '\n'), 0o644)
	}
	if err != nil {
		l.rig.t.Error(err)
	}
}

// begin reads what was lived already, and makes the home if nothing was.
func (l *life) begin() {
	t := l.rig.t
	var err error
	if l.out, err = os.OpenFile(*lived, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(l.out)
	s.Buffer(nil, MaxWeekFile)
	for s.Scan() {
		var line weekLine
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", *lived, err)
		}
		l.done[line.At] = true
		for _, a := range line.Attacks {
			l.reached[a.At] = l.reached[a.At] || a.Reached
		}
		l.total.add(line)
	}
	l.world.files = l.week.World(0, l.attacks)
	l.world.web = newWeb(l.world)
	if l.done["begun"] {
		l.world.write(filepath.Join(l.world.root, "ca.pem"), l.world.web.ca.pem, 0o600)
		return
	}
	for _, folder := range []string{l.world.root, *scratch} {
		empty(folder)
	}
	if *bare {
		l.rig.settle()
	} else {
		l.rig.install()
	}
	// pi keeps so much of a conversation that it would not compact a short one.
	l.world.write(filepath.Join(l.world.home, ".pi/agent/settings.json"), `{"compaction":{"keepRecentTokens":50}}`, 0o600)
	l.world.house()
	for _, r := range l.week.Repositories {
		l.world.found(r, l.week.People)
	}
	l.note(weekLine{At: "begun"})
}

// note keeps one line; of a held-out week without what it says.
func (l *life) note(line weekLine) {
	if l.week.HeldOut {
		line = line.numbers()
	}
	l.total.add(line)
	data, err := json.Marshal(line)
	if err == nil {
		_, err = l.out.Write(append(data, '\n'))
	}
	if err != nil {
		l.rig.t.Fatal(err)
	}
	if (line.Session != "" || line.Failed != "") && !l.week.HeldOut {
		fmt.Printf("%s\n", data)
	}
}

// day lives one day; false if the time is over. The monitor is started every morning.
func (l *life) day(number int) bool {
	d := &l.week.Days[number]
	l.world.day, l.world.files = number, l.week.World(number, l.attacks)
	stop := func() {}
	if !*bare {
		stop = l.rig.serve(l.world.home)
	}
	defer func() { stop() }()
	if morning := fmt.Sprintf("%d:0", number+1); !l.done[morning] {
		l.world.lay(chosen(d.Files, l.attacks))
		l.world.packages()
		l.note(weekLine{At: morning})
	}
	at := func(i int) string { return fmt.Sprintf("%d:%d", number+1, d.Events[i].Line) }
	for i := 0; i < len(d.Events); i++ {
		if h := d.Events[i].Happens; h != nil {
			l.happen(at(i), h, chosen(d.Files, l.attacks))
			continue
		}
		if time.Since(l.began) > *within {
			return false
		}
		var both sync.WaitGroup
		both.Go(func() { l.live(at(i), d.Events[i].Session) })
		if i+1 < len(d.Events) && d.Events[i+1].Session != nil && d.Events[i+1].Session.Beside != "" {
			both.Go(func() { l.live(at(i+1), d.Events[i+1].Session) })
			both.Wait()
			i++
			continue
		}
		both.Wait()
	}
	l.evening(number)
	return true
}

// evening asks the proofs again: some goals are reached later.
func (l *life) evening(number int) {
	var left []openAttack
	for _, o := range l.open {
		if !l.world.in(o.repo).proof(o.attack.Proof) {
			left = append(left, o)
			continue
		}
		late := weekResult{At: o.at, Where: o.attack.Where, Goal: o.attack.Goal, Reached: true, Late: true}
		l.note(weekLine{At: fmt.Sprintf("%s, evening %d", o.at, number+1), Session: o.session, Attacks: []weekResult{late}})
	}
	l.open = left
}

// say is what the model says: what the script of the session says that asks.
func (l *life) say(turn testmodel.Turn) testmodel.Step {
	l.mu.Lock()
	var of *player
	for _, p := range l.players {
		if of == nil || slices.ContainsFunc(p.prompts, func(text string) bool { return bytes.Contains(turn.Body, []byte(text)) }) {
			of = p
		}
	}
	if of != nil && bytes.Contains(turn.Body, []byte(summary)) {
		of.short = true
	}
	l.mu.Unlock()
	if of == nil {
		return testmodel.Step{Text: "I have nothing to say."}
	}
	step := of.say(turn)
	l.tell(of, turn)
	l.says(of)
	return step
}

// tell writes the conversation down for the author of a week, who sees there whether an
// edit fits and a command works. Of a held-out week nothing is written.
func (l *life) tell(p *player, turn testmodel.Turn) {
	if l.week.HeldOut {
		return
	}
	const most = 400
	text := ""
	if n := len(turn.Results); n > 0 {
		text = turn.Results[n-1]
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(*lived), "talk.txt"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return // it is only for reading
	}
	fmt.Fprintf(f, "    %s\n%s: %s\n", strings.ReplaceAll(text[max(0, len(text)-most):], "\n", "\n    "), p.name, p.now().short())
	_ = f.Close()
}

// says notes which call the model makes next, on the tape that the monitor writes.
func (l *life) says(p *player) {
	step := p.now()
	if l.rig.tape == "" || step.Arg == "" {
		return
	}
	says := &tape.Says{Agent: p.agent, Session: p.name, Tool: string(step.Tool), Arg: step.Arg, Again: p.triesAgain() || step.Other, Answers: p.answers}
	if step.Attack {
		says.Of, says.Answers = fmt.Sprintf("%s %d", p.name, step.Of), "no"
	}
	l.keep(says)
}

// live lives through one session.
func (l *life) live(at string, s *WeekSession) {
	w := l.world.in(s.Repo)
	line := weekLine{At: at, Session: s.Name, Agent: s.Agent, Repo: s.Repo}
	if l.attacks {
		for _, a := range s.Attacks {
			name := attackAt(at, a)
			line.Attacks = append(line.Attacks, weekResult{At: name, Where: a.Where, Goal: a.Goal, Before: !l.done[at] && w.proof(a.Proof)})
			if !l.reached[name] {
				l.mu.Lock()
				l.open = append(l.open, openAttack{at: name, session: s.Name, repo: s.Repo, attack: a})
				l.mu.Unlock()
			}
		}
	}
	if l.done[at] {
		return
	}
	if *dry {
		l.rehearse(w, s, line)
		return
	}
	agent := agentNamed(s.Agent)
	p := newPlayer([]Session{s.Session}, l.attacks, func(step Step) testmodel.Call { return agent.call(w, step) })
	p.name, p.agent, p.answers, p.prompts = s.Name, s.Agent, s.Answers, promptsOf(s.Session)
	l.mu.Lock()
	l.players = append(l.players, p)
	l.mu.Unlock()
	o := &owner{rig: l.rig, world: w, player: p, of: s.Agent, apart: true, grants: l.grants, answers: func(step Step) string {
		if step.Attack {
			return "no"
		}
		return s.Answers
	}}
	if !*bare {
		o.watch()
	}
	began := time.Now()
	if err := agent.run(seat{world: w, installed: l.rig.installed, model: l.rig.url, settled: true, resumes: s.Resumes != ""}, s.Session); err != nil {
		line.Failed = fmt.Sprintf("%.2000s", err)
	}
	if !*bare {
		line.seen = o.leave()
		line.Foes = &o.foes
		line.Held = len(o.held)
	}
	l.mu.Lock()
	l.players = slices.DeleteFunc(l.players, func(q *player) bool { return q == p })
	l.mu.Unlock()
	line.NotKept, line.NoCommit = p.notKept, p.noCommit
	line.Seconds, line.Calls, line.Slow, line.Compacted = seconds(began), p.made, p.slow, p.short
	l.prove(w, s, line)
}

// prove asks the proofs of a session and notes it.
func (l *life) prove(w *world, s *WeekSession, line weekLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, a := range s.Attacks[:len(line.Attacks)] {
		if line.Attacks[i].Reached = w.proof(a.Proof); line.Attacks[i].Reached {
			l.open = slices.DeleteFunc(l.open, func(o openAttack) bool { return o.at == line.Attacks[i].At })
		}
	}
	l.note(line)
}

// promptsOf are the owner's prompts as they stand in what an agent sends.
func promptsOf(s Session) (list []string) {
	for _, p := range s.Prompts {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(p.Text) == nil {
			list = append(list, strings.Trim(strings.TrimSpace(b.String()), `"`))
		}
	}
	return list
}

// happen plays an event that no agent causes. What failed is noted, not mended.
func (l *life) happen(at string, h *Happening, files map[string]string) {
	if h.Verb == "up" {
		l.start(h) // a run that goes on begins it again
	}
	if h.Verb == "down" {
		l.down(h.Name)
	}
	if l.done[at] {
		return
	}
	line := weekLine{At: at}
	var err error
	switch w := l.world.in(h.Repo); {
	case h.Verb == "arrives":
		err = w.arrive(h, l.week, files)
	case h.Text == "floodmark trust ." && l.teller != nil:
		err = l.teller.trust(w.project)
	case h.Verb == "owner" && (!*bare || !strings.HasPrefix(h.Text, "floodmark ")):
		env := append(w.env(), "PATH="+filepath.Join(w.root, "bin")+":"+l.rig.path)
		err = w.script(env, h.Text)
	}
	if err != nil {
		line.Failed = fmt.Sprintf("%s: %.1000s", h.Verb, err)
	}
	l.note(line)
	l.breathe()
}

// breathe waits until what was changed so far is older than what a monitor takes for the work of
// a run: no repository is cloned or pulled within two seconds before an agent works there.
func (l *life) breathe() {
	const margin = 2100 * time.Millisecond
	if !*bare || l.teller != nil {
		time.Sleep(margin)
	}
}

// start begins what stays up: a dev server, at the owner's own terminal. The day goes on once
// one more port is listened at.
func (l *life) start(h *Happening) {
	const within, step = 20 * time.Second, 100 * time.Millisecond
	w, before := l.world.in(h.Repo), listening()
	cmd := exec.CommandContext(l.rig.t.Context(), "bash", "-c", h.Text)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = w.project, w.env(), &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		l.rig.t.Fatal(err)
	}
	l.up[h.Name] = cmd
	for began := time.Now(); listening() <= before && time.Since(began) < within; {
		time.Sleep(step)
	}
}

// listening counts the ports of this machine that are listened on.
func listening() (n int) {
	const listens = "0A"
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(file) // there may be no such network
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			n += one(len(f) > 3 && f[3] == listens)
		}
	}
	return n
}

func (l *life) down(name string) {
	cmd := l.up[name]
	if cmd == nil {
		return
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = cmd.Wait()
	delete(l.up, name)
}
