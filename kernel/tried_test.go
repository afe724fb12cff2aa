package kernel_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// shellTools are the desk's tools, and a shell of its own for each line.
const shellTools = deskTools + `
  - {tool: bash, about: runs a command line, effect: run, fresh: [command], returns: {trust: local, secrecy: internal}, args: {command: {role: critical, is: command}}}
`

// boxDesk returns a session in a project that has read a page.
func boxDesk(t *testing.T, user string) *desk {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n" + cmp.Or(user, "profile: coding\n"))})
	tools, err := catalog.Parse("tools", []byte(shellTools))
	shipped, shipErr := catalog.Shipped()
	if problems.Failed() || err != nil || shipErr != nil {
		t.Fatal(problems, err, shipErr)
	}
	d := lawDesk(t, kernel.NewRules(p, catalog.New([]*catalog.File{tools}, shipped)))
	d.owner("read https://a.example/x")
	d.reads("page", `{"url":"https://a.example/x"}`, "a page")
	return d
}

func lineCall(t testing.TB, line string) hook.Call {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	return toolCall("bash", string(args))
}

// line judges a command line, for an adapter that can box it and let it reach hosts.
func (d *desk) line(line string, change func(*hook.Event)) kernel.Output {
	d.t.Helper()
	ev := hook.Event{Point: hook.BeforeToolCall, Call: lineCall(d.t, line), Boxes: true, Holes: true}
	if change != nil {
		change(&ev)
	}
	return d.tell(ev)
}

func effectsOf(out kernel.Output) []floodmark.Effect {
	decided := kept[floodmark.ActionDecided](out)
	return decided[len(decided)-1].Action.Effects
}

// A line that may do without what it fetches is judged as one that fetches nothing, if it then runs
// in a box. In every other case it keeps all its effects.
func TestTriedInABoxFirst(t *testing.T) {
	const line = "go mod tidy && make build"
	whole := []floodmark.Effect{floodmark.Run, floodmark.Fetch}
	for name, c := range map[string]struct {
		line, user string
		change     func(*hook.Event)
		tried      bool
		want       floodmark.Verdict
	}{
		"as it is":             {tried: true, want: floodmark.Allow},
		"without holes":        {change: func(ev *hook.Event) { ev.Holes = false }, tried: true, want: floodmark.Allow},
		"a door without boxes": {change: func(ev *hook.Event) { ev.Boxes = false }, want: floodmark.Confirm},
		"a rule that refuses": {
			user: "profile: coding\nrules: [{name: no, when: 'true', tools: [bash], action: {verdict: restrict}}]\n", want: floodmark.Restrict,
		},
		"a rule that asks about the tool": {
			user: "profile: coding\nrules: [{name: ask, when: 'true', tools: [bash], action: {verdict: confirm}}]\n", want: floodmark.Confirm,
		},
		"a policy that boxes nothing": {user: "profile: coding\ntable: {run: {untrusted: confirm, external: confirm}}\n", want: floodmark.Confirm},
		"only watched":                {user: "profile: dry-run\n", want: floodmark.Allow},
		"a package":                   {line: "npm install left-pad", want: floodmark.Confirm},
		"an address":                  {line: "npm ci --registry=https://r.example", want: floodmark.Confirm},
		"a secret beside it":          {line: "npm prune; cat .env", want: floodmark.Restrict},
		"a file elsewhere":            {line: "npm prune > /home/x", want: floodmark.Confirm},
		"a push":                      {line: "npm prune && git push", want: floodmark.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			d := boxDesk(t, c.user)
			if c.line == "" {
				c.line = line
			}
			out := d.line(c.line, c.change)
			got := out.Reply.Decision
			decided := kept[floodmark.ActionDecided](out)
			if got.Verdict != c.want || out.Reply.Tried != c.tried || got.Contained() != c.tried || decided[0].Basis.Tried != c.tried {
				t.Errorf("%+v tried %v", got, out.Reply.Tried)
			}
			if fetches := slices.Contains(effectsOf(out), floodmark.Fetch); fetches == c.tried {
				t.Errorf("effects %v", effectsOf(out))
			}
			if c.line == line && !c.tried && !slices.Equal(effectsOf(out), whole) {
				t.Errorf("effects %v", effectsOf(out))
			}
		})
	}
}

// After a failure in its box the whole call is asked about, and is judged as one that sends if its
// box is opened. What it wrote is kept only if it had what it wanted.
func TestTriedAgainWithAHost(t *testing.T) {
	const line = "go mod tidy && make build"
	d := boxDesk(t, "")
	first := d.line(line, nil)
	d.tell(hook.Event{Point: hook.AfterToolCall, Call: lineCall(t, line), Result: hook.Result{Text: "failed"}, Box: &hook.BoxEnd{Failed: true, Exit: 1, Hosts: []string{"proxy.example:443"}}})
	second := d.line(line, nil)
	if got := second.Reply.Decision; !first.Reply.Tried || got.Verdict != floodmark.Confirm || got.Reasons[0].Code != floodmark.BoxHost || second.Reply.Tried && got.Contained() {
		t.Fatalf("%+v", second.Reply)
	}
	want := []floodmark.Effect{floodmark.Run, floodmark.Fetch, floodmark.Send}
	if !slices.Equal(effectsOf(second), want) {
		t.Errorf("effects %v", effectsOf(second))
	}
	d.says(approval.Approve, "owner.sock", "user 1000")
	third := d.line(line, nil).Reply
	if !third.Decision.Contained() || !third.Tried || !slices.Equal(third.Hosts, []string{"proxy.example:443"}) {
		t.Errorf("%+v", third)
	}
}

// A gate outside agrees to a call that runs in a box without a network: the call is then judged
// as the one that the gate was shown, so nobody is asked about it.
func TestTriedInABoxBehindAGate(t *testing.T) {
	for name, change := range map[string]func(*hook.Event){
		"tried":    func(*hook.Event) {},
		"mirrored": func(ev *hook.Event) { ev.Locks = []string{"/home/user/work/go.sum"} },
	} {
		t.Run(name, func(t *testing.T) {
			d := boxDesk(t, "profile: coding\nverifiers: [{name: webhook}]\n")
			ev := hook.Event{Point: hook.BeforeToolCall, Call: lineCall(t, "go mod tidy && make build"), Boxes: true, Holes: true}
			change(&ev)
			out := d.tell(ev)
			if !out.Reply.Decision.Contained() || out.Verify == nil {
				t.Fatalf("%+v", out.Reply)
			}
			tried, mirror := out.Reply.Tried, out.Reply.Mirror
			h := kernel.Hearing{Asked: *out.Verify, Answers: []kernel.GateAnswer{yes("webhook")}}
			out = d.take(kernel.Verify(d.state, d.rules, d.input(ev), h))
			if !out.Reply.Decision.Contained() || out.Verify != nil || out.Reply.Tried != tried || out.Reply.Mirror != mirror || slices.Contains(effectsOf(out), floodmark.Fetch) {
				t.Errorf("%+v, effects %v", out.Reply, effectsOf(out))
			}
		})
	}
}
