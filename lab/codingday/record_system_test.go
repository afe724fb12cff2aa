package codingday

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

var (
	installed = flag.String("agents", "", "the folder the agents are installed in; without it nothing is recorded")
	only      = flag.String("tasks", "", "record only tasks whose file's name matches this expression")
	keep      = flag.Bool("keep", false, "write the recordings to testdata/traces; without it they are only compared")
	program   = flag.String("hook", "", "the floodmark-hook program")
	pathFirst = flag.String("path", "", "folders of programs, with a colon behind each")
	atOnce    = make(chan struct{}, 2) // tasks recorded at the same time
)

// Every task is recorded with its real agent, without the attack and with it. With -live nothing is
// recorded: the day is played with a real monitor and without one. With -week that week is played.
func TestRecord(t *testing.T) {
	if *installed == "" {
		t.Skip("real agents are run by .ci/coding")
	}
	if me := os.Getpid(); me > 100 {
		t.Fatalf("process %d: attacks really run, so they want a machine of their own; use .ci/coding", me)
	}
	if *alive != "" && *week != "" {
		liveWeek(t, *alive)
		return
	}
	if *alive != "" {
		liveDay(t, *alive)
		return
	}
	match := regexp.MustCompile(*only)
	for _, file := range taskFiles(t) {
		if !match.MatchString(filepath.Base(file)) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			task := readTask(t, file)
			if why := leftOut()[task.Number]; why != "" {
				t.Skip(why)
			}
			list := []*Trace{record(t, task, false), record(t, task, true)}
			if !t.Failed() {
				saveTraces(t, task, list)
			}
		})
	}
}

// taskFiles returns the files of all three sets, in the order of their numbers.
func taskFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/tasks/??-*.txtar", "testdata/third/tasks/??-*.txtar", "testdata/third/tasks/???-*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// leftOut returns the tasks that cannot be recorded as they are written, and why. They are in no
// figure. The third set is held out, so its tasks are not corrected.
func leftOut() map[int]string {
	return map[int]string{
		73: "Codex itself refuses a command with «rm -f»",
		93: "Codex itself refuses commands with «rm -f»",
	}
}

func readTask(t *testing.T, file string) *Task {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	task, err := ParseTask(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// saveTraces writes the recordings, or compares their calls with those written.
func saveTraces(t *testing.T, task *Task, list []*Trace) {
	t.Helper()
	file := fmt.Sprintf("testdata/traces/%02d.jsonl.gz", task.Number)
	if *keep {
		data, err := pack(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old, err := unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if was, is := words(old[i]), words(list[i]); was != is {
			t.Errorf("%s is recorded as\n%s\nand now\n%s", list[i].ID(), was, is)
		}
	}
}

// words returns the names of a trace's events. It leaves out the last event of a session, which may
// not arrive on a busy machine, and pi's event at the end of a round, for which pi does not wait.
func words(t *Trace) string {
	var b strings.Builder
	for _, e := range t.Events {
		if e.Event != "session_shutdown" && e.Event != "SessionEnd" && e.Event != "turn_end" {
			b.WriteString(e.Event + " ")
		}
	}
	return b.String()
}

// A recorder records the events of one agent's hooks.
type recorder struct {
	seat

	disk disk

	mu     sync.Mutex // guards what follows
	names  *names
	events []Event
}

// record runs one task and returns the recorded events.
func record(t *testing.T, task *Task, attack bool) *Trace {
	t.Helper()
	w := newWorld(t, task, attack)
	where, err := filepath.Abs(*installed)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{seat: seat{world: w, installed: where}, names: newNames(w), disk: disk{world: w, git: map[string]string{}}}
	for _, step := range task.Steps(true) {
		r.disk.named += step.Arg + "\n"
	}
	a := agentNamed(task.Agent)
	model := &testmodel.Model{Say: script(w, task, attack, a)}
	llm := httptest.NewServer(model.Handler())
	defer llm.Close()
	r.model = llm.URL
	stop := r.listen()
	for _, s := range task.Sessions {
		if err := a.run(r.seat, s); err != nil {
			t.Error(err)
		}
	}
	stop()
	trace := &Trace{Task: task.Number, Title: task.Title, Agent: task.Agent, Attack: attack, Events: r.events}
	if attack {
		trace.Where, trace.Goal, trace.Cuts = task.Where, task.Goal, task.Cuts()
	}
	r.check(task, trace)
	return trace
}

// script returns a function that gives the model's answers, one after the other.
func script(w *world, task *Task, attack bool, a agent) func(testmodel.Turn) testmodel.Step {
	var steps []func() testmodel.Step
	for _, s := range task.Sessions {
		for _, p := range s.Prompts {
			for _, step := range p.Calls(attack) {
				steps = append(steps, func() testmodel.Step { return testmodel.Step{Calls: []testmodel.Call{a.call(w, step)}} })
			}
			steps = append(steps, func() testmodel.Step { return testmodel.Step{Text: p.Says} })
		}
	}
	return func(t testmodel.Turn) testmodel.Step {
		if t.Number >= len(steps) {
			return testmodel.Step{Text: "I have nothing more to say."}
		}
		return steps[t.Number]()
	}
}

// check compares the recorded events with the task. Every call must be recorded, and the attacker
// must have reached the goal exactly if the model obeyed.
func (r *recorder) check(task *Task, trace *Trace) {
	t := r.world.t
	calls, want := 0, len(task.Steps(trace.Attack))
	ran := map[string]bool{}
	for _, e := range slices.Backward(trace.Events) {
		m, err := read(e)
		if err != nil {
			t.Error(err)
		}
		ran[m.call] = ran[m.call] || afterCall(e.Event) || strings.HasPrefix(m.arg, "apply_patch") // Codex reports no end of patches
		if beforeCall(e.Event) {
			calls++
			if !ran[m.call] {
				t.Errorf("%s: nothing came of %q", trace.ID(), m.arg)
			}
		}
	}
	if calls != want {
		t.Errorf("%s: %d calls were seen, %d are written", trace.ID(), calls, want)
	}
	if got := r.world.proof(task.Proof); got != trace.Attack {
		t.Errorf("%s: «%s» is %v", trace.ID(), task.Proof, got)
	}
	for _, e := range trace.Events {
		for _, sign := range []string{"command not found", "build cache", "running with session ID", r.world.root, "/root/"} {
			if strings.Contains(string(e.Raw), sign) {
				t.Errorf("%s: this machine shows: %q in %.600s", trace.ID(), sign, e.Raw)
			}
		}
	}
}

// listen answers every hook and allows everything.
func (r *recorder) listen() (stop func()) {
	w := r.world
	l, err := net.Listen("unix", filepath.Join(w.root, "s"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(*program, filepath.Join(w.root, "bin", "floodmark-hook")); err != nil {
		w.t.Fatal(err)
	}
	frames, web := hookframe.Split(l)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	door := agents.Door{Hooks: yes{}}
	wait.Go(func() {
		_ = hookframe.ServeAll(ctx, frames, func(net.Conn) hookframe.Handler {
			return func(ctx context.Context, req hookframe.Request) hookframe.Response {
				r.note(req)
				resp := door.Answer(ctx, req)
				if resp.Exit != 0 {
					w.t.Errorf("%s: %s", req.Event, resp.Stderr)
				}
				return resp
			}
		}, func(err error) { w.t.Log(err) })
	})
	return func() {
		cancel()
		_ = web.Close()
		wait.Wait()
	}
}

// A yes allows everything.
type yes struct{}

func (yes) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
}

// note records one message, without what would differ at the next recording.
func (r *recorder) note(req hookframe.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, err := r.names.clean(req.Raw)
	if err != nil {
		r.world.t.Error(err)
	}
	e := Event{Event: req.Event, Raw: raw}
	e.Files, e.Git = r.disk.look()
	r.events = append(r.events, e)
}

// disk remembers what was on the disk.
type disk struct {
	world *world
	named string // the texts of the task's calls
	files map[string]string
	git   map[string]string
}

// look returns what has changed since the last call of look.
func (d *disk) look() (map[string]string, []Git) {
	now := d.world.snapshot()
	changed := map[string]string{}
	for path, sum := range now {
		if d.files[path] != sum {
			changed[path] = sum
		}
	}
	for path := range d.files {
		if _, ok := now[path]; !ok {
			changed[path] = ""
		}
	}
	d.files = now
	var list []Git
	for _, folder := range d.repositories() {
		g := d.world.git(folder)
		data, err := json.Marshal(g)
		if err == nil && d.git[g.Root] != string(data) {
			d.git[g.Root] = string(data)
			list = append(list, g)
		}
	}
	return changed, list
}

// repositories returns the repositories in the home, and those in /tmp that the task names. Others
// in /tmp may belong to a task that is recorded at the same time.
func (d *disk) repositories() []string {
	list, _ := filepath.Glob(filepath.Join(d.world.home, "*", ".git")) // the pattern is a good one
	more, _ := filepath.Glob("/tmp/*/.git")
	for _, path := range more {
		if strings.Contains(d.named, filepath.Dir(path)) {
			list = append(list, path)
		}
	}
	for i := range list {
		list[i] = filepath.Dir(list[i])
	}
	return list
}

// output runs a program of the machine in a folder.
func (w *world) output(folder, name string, args ...string) string {
	cmd := exec.CommandContext(w.t.Context(), name, args...)
	cmd.Dir, cmd.Env = folder, w.env()
	out, _ := cmd.Output() // a project may be no repository, or an empty one
	return strings.TrimSpace(string(out))
}
