package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/verify"
)

// webgate is a function as a verifier.
type webgate struct {
	name string
	ask  func(ctx context.Context, r verify.Request) (verify.Answer, error)
}

func (g webgate) Name() string { return g.name }

func (g webgate) Verify(ctx context.Context, r verify.Request) (verify.Answer, error) {
	return g.ask(ctx, r)
}

func answering(name string, a verify.Answer, err error) webgate {
	return webgate{name, func(context.Context, verify.Request) (verify.Answer, error) { return a, err }}
}

// gated is a session whose calls pass a webhook.
func gated(tb testing.TB, text string, change func(*monitor.Config), gates ...verify.Verifier) *desk {
	tb.Helper()
	rules := mustRules(tb, plain+text)
	n := 0
	d := newDesk(tb, journal.NewMemory(), func(c *monitor.Config) {
		c.Rules, c.Verifiers = func() kernel.Rules { return rules }, gates
		c.NewRequest = func() string { n++; return fmt.Sprint("r", n) }
		if change != nil {
			change(c)
		}
	})
	d.tell(tb, at("s", hook.SessionStart))
	d.tell(tb, says("s", "tidy up"))
	return d
}

func list(id string) hook.Event { return calls("s", id, "ls", `{"path":"/work"}`) }

func TestVerifiersAnswer(t *testing.T) {
	const only, open = "verifiers: [{name: webhook}]\n", "verifiers: [{name: webhook, failMode: allow}]\n"
	yes, no := verify.Answer{Allow: true}, verify.Answer{Reason: "not on\na Friday"}
	down := &verify.Failure{Kind: verify.Unreachable, Text: "nothing listens there"}
	for name, c := range map[string]struct {
		policy string
		gates  []verify.Verifier
		want   floodmark.Verdict
		line   string
	}{
		"allows":                   {only, []verify.Verifier{answering("webhook", yes, nil)}, floodmark.Allow, ""},
		"refuses":                  {only, []verify.Verifier{answering("webhook", no, nil)}, floodmark.Restrict, `the verifier webhook refused it and said "not on a Friday"`},
		"refuses without a reason": {open, []verify.Verifier{answering("webhook", verify.Answer{}, nil)}, floodmark.Restrict, "the verifier webhook refused it."},
		"fails":                    {only, []verify.Verifier{answering("webhook", yes, down)}, floodmark.Restrict, "gave no answer: nothing listens there"},
		"fails oddly":              {only, []verify.Verifier{answering("webhook", yes, errors.New("token abc"))}, floodmark.Restrict, "gave no answer: it could not be asked"},
		"fails, and may":           {open, []verify.Verifier{answering("webhook", verify.Answer{}, down)}, floodmark.Allow, ""},
		"is not set":               {only, nil, floodmark.Restrict, "service.yaml does not say how to reach it"},
		"is not set, and may fail": {open, nil, floodmark.Restrict, "service.yaml does not say how to reach it"},
		"both":                     {"verifiers: [{name: webhook}, {name: phone}]\n", []verify.Verifier{answering("phone", yes, nil), answering("webhook", yes, nil)}, floodmark.Allow, ""},
		"only one of both":         {"verifiers: [{name: webhook}, {name: phone}]\n", []verify.Verifier{answering("phone", no, nil), answering("webhook", yes, nil)}, floodmark.Restrict, "the verifier phone refused it"},
		"one has no say":           {only, []verify.Verifier{answering("phone", no, nil), answering("webhook", yes, nil)}, floodmark.Allow, ""},
		"another tool":             {"verifiers: [{name: webhook, exclude: [ls]}]\n", []verify.Verifier{answering("webhook", no, nil)}, floodmark.Allow, ""},
		"nothing is enforced":      {"profile: dry-run\n" + only, []verify.Verifier{answering("webhook", no, nil)}, floodmark.Allow, ""},
		"panics":                   {open, []verify.Verifier{webgate{"webhook", func(context.Context, verify.Request) (verify.Answer, error) { panic("odd") }}}, floodmark.Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.policy
			if strings.HasPrefix(text, "profile") {
				text = strings.TrimPrefix(text, "profile: dry-run\n") + "agents: {}\n"
			}
			d := gated(t, text, func(cfg *monitor.Config) {
				if strings.HasPrefix(c.policy, "profile") {
					rules, err := loadRules("version: 1\n" + c.policy)
					if err != nil {
						t.Fatal(err)
					}
					cfg.Rules = func() kernel.Rules { return rules }
				}
			}, c.gates...)
			reply := d.tell(t, list("c1"))
			if reply.Decision.Verdict != c.want || len(reply.Decision.Verifiers) > 0 || !strings.Contains(reply.Line, c.line) {
				t.Errorf("got %+v %q", reply.Decision, reply.Line)
			}
			if reply.Decision.Verdict == floodmark.Restrict && (reply.Decision.Remedy.Agent == "" || reply.Decision.Remedy.Person == "") {
				t.Errorf("nobody is told what to do: %+v", reply.Decision.Remedy)
			}
		})
	}
}

// The waiting call is durable before a gate is asked, and the gate's answers before the agent gets
// its own.
func TestVerifierAnswersAreWrittenDown(t *testing.T) {
	var d *desk
	d = gated(t, "verifiers: [{name: webhook}]\n", nil, webgate{"webhook", func(_ context.Context, r verify.Request) (verify.Answer, error) {
		all := facts(t, d.cfg.Journal, session("s"))
		last, ok := all[len(all)-1].(floodmark.ActionDecided)
		if !ok || last.Decision.Verdict != floodmark.Allow || len(last.Decision.Verifiers) != 1 {
			t.Errorf("asked before it was written down: %+v", all[len(all)-1])
		}
		if r.ID != "r1" || r.Session != "s" || r.Agent != "openclaw" || r.Tool != "ls" || string(r.Params) != `{"path":"/work"}` || r.At.IsZero() {
			t.Errorf("shown: %+v", r)
		}
		if got := strings.Join(r.Lines, "|"); got != "path: /work" {
			t.Errorf("for people: %s", got)
		}
		return verify.Answer{Reason: "no"}, nil
	}})
	d.tell(t, list("c1"))
	all := facts(t, d.cfg.Journal, session("s"))
	answer, ok := all[len(all)-2].(floodmark.VerifierAnswered)
	if !ok || answer.Verifier != "webhook" || answer.Request != "r1" || answer.Call != "c1" || answer.Verdict != floodmark.Restrict || answer.Text != "no" || answer.ArgsDigest.IsZero() {
		t.Errorf("written down: %+v", all[len(all)-2])
	}
	if got := d.tell(t, returns(list("c1"), "x")); got.Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v", got)
	}
	all = facts(t, d.cfg.Journal, session("s"))
	if !strings.Contains(fmt.Sprintf("%+v", all), "refused-call-ran") {
		t.Error("a refused call gave a result, and it is no incident")
	}
}

// The session goes on during slow gates, and what changed counts.
func TestVerifiersHoldNoLock(t *testing.T) {
	var d *desk
	strict := mustRules(t, plain+"verifiers: [{name: webhook}, {name: phone}]\n")
	loose := mustRules(t, plain+"verifiers: [{name: webhook}]\n")
	rules, asked, phoned := loose, 0, 0
	d = gated(t, "verifiers: [{name: webhook}]\n", func(c *monitor.Config) { c.Rules = func() kernel.Rules { return rules } },
		webgate{"webhook", func(context.Context, verify.Request) (verify.Answer, error) {
			if asked++; asked == 1 {
				d.tell(t, says("s", "and be quick"))
				rules = strict // a gate more
			}
			return verify.Answer{Allow: true}, nil
		}},
		webgate{"phone", func(context.Context, verify.Request) (verify.Answer, error) {
			phoned++
			return verify.Answer{Allow: true}, nil
		}})
	if got := d.tell(t, list("c1")).Decision.Verdict; got != floodmark.Allow || asked != 2 || phoned != 1 {
		t.Errorf("%v after asking %d and %d times", got, asked, phoned)
	}
}

// A session with constant changes is refused after some rounds.
func TestVerifiersAreNotAskedForEver(t *testing.T) {
	asked := 0
	rules := mustRules(t, plain+"verifiers: [{name: webhook}]\n")
	d := gated(t, "", func(c *monitor.Config) { c.Rules = func() kernel.Rules { return rules } },
		webgate{"webhook", func(context.Context, verify.Request) (verify.Answer, error) {
			asked++
			names := "webhook"
			for i := range asked {
				names += fmt.Sprintf("}, {name: more%d", i)
			}
			rules = mustRules(t, plain+"verifiers: [{name: "+names+"}]\n")
			return verify.Answer{Allow: true}, nil
		}})
	reply := d.tell(t, list("c1"))
	if reply.Decision.Verdict != floodmark.Restrict || asked != 3 || !strings.Contains(reply.Line, "kept changing") {
		t.Errorf("%v after asking %d times: %s", reply.Decision.Verdict, asked, reply.Line)
	}
}

// The auditor comes first, then the verifiers; the auditor is asked once.
func TestVerifiersAfterTheAuditor(t *testing.T) {
	opinions := 0
	d := gated(t, "auditor: {on: true}\nverifiers: [{name: webhook, include: [write]}]\n", func(c *monitor.Config) {
		c.Auditor = auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) {
			opinions++
			return audit.Opinion{Says: audit.Allow}, nil
		})
	}, answering("webhook", verify.Answer{Allow: true}, nil))
	poisoned(t, d, "p")
	ev := note()
	ev.Session = "p"
	if got := d.tell(t, ev).Decision; got.Verdict != floodmark.Allow || len(got.Verifiers) > 0 || opinions != 1 {
		t.Errorf("%+v after %d opinions", got, opinions)
	}
	n := 0
	for _, f := range facts(t, d.cfg.Journal, session("p")) {
		if _, ok := f.(floodmark.OpinionGiven); ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d opinions are written down", n)
	}
}

// A gate that takes longer than the agent's hook: under each failMode the agent is told in time,
// and the late answer counts once for a retry of the same call.
func TestLateAnswers(t *testing.T) {
	for _, failMode := range []string{"deny", "allow"} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			asked, answer := 0, make(chan verify.Answer)
			d := gated(t, "verifiers: [{name: webhook, failMode: "+failMode+", timeout: 60s}]\n", nil,
				webgate{"webhook", func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
					mu.Lock()
					asked++
					mu.Unlock()
					select {
					case a := <-answer:
						return a, nil
					case <-ctx.Done():
						return verify.Answer{}, ctx.Err()
					}
				}})
			tell := func(ev hook.Event) hook.Reply {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				reply, err := d.Handle(ctx, "", ev)
				if err != nil {
					t.Fatal(err)
				}
				return reply
			}
			for range 2 {
				reply := tell(list("c1"))
				if reply.Decision.Verdict != floodmark.Restrict || !strings.Contains(reply.Line, "when the agent had to be told") || !strings.Contains(reply.Decision.Remedy.Agent, "try the same call again") {
					t.Fatalf("%+v %s", reply.Decision, reply.Line)
				}
			}
			mu.Lock()
			if asked != 1 {
				t.Errorf("asked %d times about one call", asked)
			}
			mu.Unlock()
			answer <- verify.Answer{Allow: true}
			synctest.Wait() // taken before the retry
			if reply := tell(calls("s", "c9", "ls", `{"path":"/other"}`)); reply.Decision.Verdict != floodmark.Restrict {
				t.Errorf("another call got the answer: %+v", reply.Decision)
			}
			if reply := tell(list("c2")); reply.Decision.Verdict != floodmark.Allow {
				t.Errorf("the late yes does not count: %+v", reply.Decision)
			}
			if reply := tell(list("c3")); reply.Decision.Verdict != floodmark.Restrict {
				t.Errorf("the late yes counts twice: %+v", reply.Decision)
			}
		})
	}
}

// A late answer expires.
func TestLateAnswersExpire(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  floodmark.Verdict
	}{{10 * time.Minute, floodmark.Allow}, {10*time.Minute + 1, floodmark.Restrict}} {
		synctest.Test(t, func(t *testing.T) { lateAnswer(t, c.after, c.want) })
	}
}

func lateAnswer(t *testing.T, after time.Duration, want floodmark.Verdict) {
	t.Helper()
	answer := make(chan verify.Answer, 1)
	d := gated(t, "verifiers: [{name: webhook, timeout: 60s}]\n", nil,
		webgate{"webhook", func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
			select {
			case a := <-answer:
				return a, nil
			case <-ctx.Done():
				return verify.Answer{}, ctx.Err()
			}
		}})
	tell := func() floodmark.Verdict {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		reply, err := d.Handle(ctx, "", list("c1"))
		if err != nil {
			t.Fatal(err)
		}
		return reply.Decision.Verdict
	}
	tell()
	answer <- verify.Answer{Allow: true}
	synctest.Wait() // taken before the retry
	d.clock.Add(int64(after))
	if got := tell(); got != want {
		t.Errorf("after %v: %v", after, got)
	}
}

// Of a hook's ten seconds a gate has nine. A later failure counts once for a retry of the same
// call, with the result of failMode.
func TestLateFailures(t *testing.T) {
	for failMode, want := range map[string]floodmark.Verdict{"deny": floodmark.Restrict, "allow": floodmark.Allow} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			d := gated(t, "verifiers: [{name: webhook, failMode: "+failMode+", timeout: 30s}]\n", nil,
				webgate{"webhook", func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
					asked.Add(1)
					<-ctx.Done()
					return verify.Answer{}, ctx.Err()
				}})
			tell := func() (floodmark.Verdict, time.Duration) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began := time.Now()
				reply, err := d.Handle(ctx, "", list("c1"))
				if err != nil {
					t.Fatal(err)
				}
				return reply.Decision.Verdict, time.Since(began)
			}
			for range 3 {
				if got, took := tell(); got != floodmark.Restrict || took != 9*time.Second {
					t.Errorf("%s: %v after %v", failMode, got, took)
				}
			}
			if got, took := tell(); got != want || took != 3*time.Second || asked.Load() != 1 {
				t.Errorf("%s, at its end: %v after %v, asked %d times", failMode, got, took, asked.Load())
			}
			if got, _ := tell(); got != floodmark.Restrict || asked.Load() != 2 {
				t.Errorf("%s, afterwards: %v, asked %d times", failMode, got, asked.Load())
			}
		})
	}
}

// Each gate has its own time.
func TestVerifierTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for set, want := range map[string]time.Duration{"": 30 * time.Second, ", timeout: 7s": 7 * time.Second} {
			d := gated(t, "verifiers: [{name: webhook"+set+"}]\n", nil, webgate{"webhook", func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
				<-ctx.Done()
				return verify.Answer{Allow: true}, nil
			}})
			began := time.Now()
			reply := d.tell(t, list("c1"))
			if took := time.Since(began); took != want || reply.Decision.Verdict != floodmark.Restrict || !strings.Contains(reply.Line, fmt.Sprintf("within %.0f s", want.Seconds())) {
				t.Errorf("after %v: %s", took, reply.Line)
			}
			d.Close()
		}
	})
}

// The settings' gates are required besides the policy's, each in its strictest form.
func TestVerifiersOfTheSettings(t *testing.T) {
	down := &verify.Failure{Kind: verify.TimedOut, Text: "too slow"}
	for name, c := range map[string]struct {
		policy string
		gates  verify.Gates
		want   floodmark.Verdict
	}{
		"settings alone":       {"", verify.Gates{{Name: "webhook"}}, floodmark.Restrict},
		"settings alone, open": {"", verify.Gates{{Name: "webhook", FailMode: verify.FailAllow}}, floodmark.Allow},
		"policy stricter":      {"verifiers: [{name: webhook}]\n", verify.Gates{{Name: "webhook", FailMode: verify.FailAllow}}, floodmark.Restrict},
		"settings stricter":    {"verifiers: [{name: webhook, failMode: allow}]\n", verify.Gates{{Name: "webhook"}}, floodmark.Restrict},
		"both open":            {"verifiers: [{name: webhook, failMode: allow}]\n", verify.Gates{{Name: "webhook", FailMode: verify.FailAllow}}, floodmark.Allow},
		"agent stricter":       {"", verify.Gates{{Name: "webhook", FailMode: verify.FailAllow}, {Name: "webhook", Agent: "openclaw"}}, floodmark.Restrict},
		"another agent's":      {"", verify.Gates{{Name: "webhook", Agent: "codex"}}, floodmark.Allow},
		"not this tool":        {"", verify.Gates{{Name: "webhook", Scope: verify.Scope{Include: []string{"exec"}}}}, floodmark.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			d := gated(t, c.policy, func(cfg *monitor.Config) {
				rules := cfg.Rules()
				rules.Gates = c.gates
				cfg.Rules = func() kernel.Rules { return rules }
			}, answering("webhook", verify.Answer{}, down))
			if got := d.tell(t, list("c1")).Decision; got.Verdict != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Closing the monitor cancels requests to gates.
func TestCloseEndsAsking(t *testing.T) {
	began := make(chan struct{})
	d := gated(t, "verifiers: [{name: webhook, failMode: allow}]\n", nil, webgate{"webhook", func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
		close(began)
		<-ctx.Done()
		return verify.Answer{Allow: true}, nil
	}})
	got, closed := make(chan hook.Reply), make(chan struct{})
	go func() {
		reply, _ := d.Handle(context.Background(), "", list("c1"))
		got <- reply
	}()
	<-began
	go func() {
		d.Close()
		close(closed)
	}()
	if reply := <-got; reply.Decision.Verdict != floodmark.Restrict || !strings.Contains(reply.Line, "the monitor is being stopped") {
		t.Errorf("%+v", reply)
	}
	<-closed
	// After the restart the same call is asked about again, and that answer counts.
	asked := 0
	again := newDesk(t, d.cfg.Journal, func(c *monitor.Config) {
		c.Rules, c.NewRequest = d.cfg.Rules, func() string { return "again" }
		c.Verifiers = []verify.Verifier{webgate{"webhook", func(_ context.Context, r verify.Request) (verify.Answer, error) {
			asked++
			if r.ID != "again" {
				t.Errorf("asked by the old request %q", r.ID)
			}
			return verify.Answer{Allow: true}, nil
		}}}
	})
	if reply := again.tell(t, list("c2")); reply.Decision.Verdict != floodmark.Allow || asked != 1 {
		t.Errorf("after a restart: asked %d times, %+v", asked, reply)
	}
}

// All gates are asked at once: here each waits until the other is asked.
func TestVerifiersAreAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := make(chan struct{}), make(chan struct{})
		meets := func(mine, other chan struct{}) func(context.Context, verify.Request) (verify.Answer, error) {
			return func(ctx context.Context, _ verify.Request) (verify.Answer, error) {
				close(mine)
				select {
				case <-other:
					return verify.Answer{Allow: true}, nil
				case <-ctx.Done():
					return verify.Answer{}, ctx.Err()
				}
			}
		}
		d := gated(t, "verifiers: [{name: webhook}, {name: phone}]\n", nil, webgate{"webhook", meets(one, two)}, webgate{"phone", meets(two, one)})
		if reply := d.tell(t, list("c1")); reply.Decision.Verdict != floodmark.Allow {
			t.Errorf("%+v %s", reply.Decision, reply.Line)
		}
		d.Close()
	})
}

// A session with too many requests at one gate is refused, even where silence would let a call
// pass: flooding a gate does not bypass it. Other sessions do not wait.
func TestAGateIsNotDrowned(t *testing.T) {
	const most = 8
	var in sync.WaitGroup
	in.Add(most)
	hold, asked := make(chan struct{}), 0
	var mu sync.Mutex // guards asked
	d := gated(t, "verifiers: [{name: webhook, failMode: allow}]\n", func(c *monitor.Config) { c.NewRequest = func() string { return "r" } }, webgate{"webhook", func(_ context.Context, r verify.Request) (verify.Answer, error) {
		mu.Lock()
		asked++
		n := asked
		mu.Unlock()
		if r.Session != "s" || n > most {
			return verify.Answer{Allow: true}, nil
		}
		in.Done()
		<-hold
		return verify.Answer{}, &verify.Failure{Kind: verify.TimedOut, Text: "too slow"}
	}})
	call := func(n int) hook.Event {
		return calls("s", fmt.Sprint("c", n), "ls", fmt.Sprintf(`{"path":"/work/%d"}`, n))
	}
	var all sync.WaitGroup
	for n := range most {
		all.Go(func() {
			if got := d.tell(t, call(n)).Decision.Verdict; got != floodmark.Allow {
				t.Errorf("call %d: %s", n, got)
			}
		})
	}
	in.Wait()
	for n := most; n < most+3; n++ {
		got := d.tell(t, call(n)).Decision
		if got.Verdict != floodmark.Restrict || !strings.Contains(got.Reasons[0].Text, "gave no answer: 8 calls of this session wait for it already") || !strings.HasPrefix(got.Remedy.Agent, "Make fewer calls at once") {
			t.Errorf("one too many: %+v", got)
		}
	}
	d.tell(t, at("other", hook.SessionStart))
	if got := d.tell(t, calls("other", "c1", "ls", `{"path":"/work"}`)).Decision.Verdict; got != floodmark.Allow {
		t.Errorf("another session: %s", got)
	}
	close(hold)
	all.Wait()
	if got := d.tell(t, call(0)).Decision.Verdict; got != floodmark.Allow {
		t.Errorf("afterwards: %s", got)
	}
}
