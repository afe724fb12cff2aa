package protection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A scripted decider asks about the calls of given tools.
type scripted struct {
	asks map[string]bool
	fail error
	fed  []string
}

func (s *scripted) Name() string              { return "scripted" }
func (s *scripted) Begin(*Trace) (Run, error) { return s, nil }
func (s *scripted) Propose(*Step) error       { return s.fail }
func (s *scripted) Ask(c *Call) (bool, error) { return s.asks[c.Tool], nil }
func (s *scripted) Feed(c *Call, asked bool) error {
	s.fed = append(s.fed, fmt.Sprint(c.Index, asked))
	return nil
}

func call(i int, tool, args string) Call {
	return Call{Index: i, Tool: tool, Args: json.RawMessage(args), Fed: true}
}

func TestPlayFeedsWhatTheAgentWouldHaveSeen(t *testing.T) {
	steps := []Step{{Calls: []Call{call(0, "look", "{}"), call(1, "pay", "{}")}}, {Calls: []Call{{Index: 2, Tool: "look"}}}}
	for kind, want := range map[Kind][]string{
		Benign: {"0 false", "1 true"}, // approved
		Attack: {"0 false"},           // denied
	} {
		d := &scripted{asks: map[string]bool{"pay": true}}
		o, err := play(Cards{}, &Trace{Kind: kind, Steps: steps}, d)
		if err != nil || o.asked != 1 || len(o.times) != 3 || !reflect.DeepEqual(d.fed, want) {
			t.Errorf("%s: %+v, fed %v, error %v", kind, o, d.fed, err)
		}
	}
}

func TestStops(t *testing.T) {
	tests := []struct {
		cuts  [][]int
		asked []bool
		want  bool
	}{
		{nil, []bool{true}, false}, // text-only: nothing can stop it
		{[][]int{{0}}, []bool{true, false}, true},
		{[][]int{{0, 1}}, []bool{true, false}, false},
		{[][]int{{0, 1}, {1}}, []bool{false, true}, true},
	}
	for _, tt := range tests {
		if got := stops(tt.cuts, tt.asked); got != tt.want {
			t.Errorf("stops(%v, %v) = %v", tt.cuts, tt.asked, got)
		}
	}
}

func TestQuestionsCoveredByAYes(t *testing.T) {
	cards, err := parseCards([]byte(tinyCards))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		calls []Call
		want  int
	}{
		{"the same values again", []Call{call(0, "pay", `{"to":"Ann","amount":5,"memo":"x"}`), call(1, "pay", `{"to":"ANN","amount":5,"memo":"y"}`)}, 1},
		{"another recipient", []Call{call(0, "pay", `{"to":"Ann"}`), call(1, "pay", `{"to":"Bob"}`)}, 2},
		{"both were approved", []Call{call(0, "pay", `{"to":"Ann"}`), call(1, "pay", `{"to":"Bob"}`), call(2, "pay", `{"to":["Bob","Ann"]}`)}, 2},
		{"no value: the class of effect", []Call{call(0, "pay", `{}`), call(1, "pay", `{"memo":"x"}`)}, 1},
		{"unknown tools are classes of their own", []Call{call(0, "a", `{"x":1}`), call(1, "b", `{"x":1}`), call(2, "a", `{"x":2}`)}, 2},
		{"arguments that cannot be read", []Call{call(0, "pay", `{"to":1,"to":2}`), call(1, "pay", `{"to":1,"to":3}`)}, 2},
	}
	for _, tt := range tests {
		asked := make([]bool, len(tt.calls))
		for i := range asked {
			asked[i] = true
		}
		if got := questions(cards, &Trace{Suite: "bank", Steps: []Step{{Calls: tt.calls}}}, asked); got != tt.want {
			t.Errorf("%s: %d questions, want %d", tt.name, got, tt.want)
		}
	}
}

func TestSetsLeaveOut(t *testing.T) {
	tests := []struct {
		trace Trace
		want  Set
	}{
		{Trace{Kind: Benign, Source: "agentdojo", Model: "m"}, AgentDojoRecorded},
		{Trace{Kind: Benign, Source: "agentdojo", Model: GroundTruth}, AgentDojoGroundTruth},
		{Trace{Kind: Attack, Source: "agentdyn", Model: "m", Task: "user_task_10"}, AgentDynRecordedDev},
		{Trace{Kind: Attack, Source: "agentdyn", Model: "m", Task: "user_task_11"}, AgentDynRecordedTest},
		{Trace{Kind: Attack, Source: "agentdyn", Model: GroundTruth, Task: "user_task_0"}, AgentDynGroundTruthDev},
		{Trace{Kind: Attack, Source: "agentdyn", Model: GroundTruth, Task: "user_task_1"}, AgentDynGroundTruthTest},
		{Trace{Kind: Attack, Source: "agentdojo", Succeeded: true}, ""},
		{Trace{Kind: Attack, Source: "agentdojo", Coincident: true}, ""},
		{Trace{Kind: InjectionAsUser, Source: "agentdojo"}, ""},
	}
	for _, tt := range tests {
		if got, ok := tt.trace.Set(); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%+v: %q, %v; want %q", tt.trace, got, ok, tt.want)
		}
	}
}

func TestReplayStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	d := &Data{Traces: []Trace{{ID: "one", Kind: Benign, Source: "agentdojo", Steps: []Step{{}}}}}
	if _, err := Replay(t.Context(), d, []Decider{&scripted{fail: broken}}, Options{}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "one") {
		t.Errorf("error is %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Replay(ctx, d, []Decider{None()}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// Other programs read the result, so its fields and their order are fixed.
func TestResultJSON(t *testing.T) {
	d := &Data{
		getOnly: map[string]bool{"bank/injection_task_1": true},
		Traces: []Trace{
			{ID: "b", Kind: Benign, Source: "agentdojo", Suite: "bank", Utility: true, Steps: []Step{{Calls: []Call{call(0, "pay", `{}`)}}}},
			{ID: "c", Kind: Benign, Source: "agentdojo", Suite: "bank", Steps: []Step{{Calls: []Call{call(0, "pay", `{}`)}}}},
			{ID: "d", Kind: Attack, Source: "agentdojo", Suite: "bank", Injection: "injection_task_1", Succeeded: true, Replayed: true, Cuts: [][]int{{0}}, Steps: []Step{{Calls: []Call{call(0, "get", `{}`)}}}},
			{ID: "e", Kind: Attack, Source: "agentdojo", Suite: "bank", Succeeded: true, Replayed: true, TextOnly: true},
			{ID: "f", Kind: Attack, Source: "agentdojo", Suite: "bank", Succeeded: true, Replayed: true, Cuts: [][]int{{0}}, Steps: []Step{{Calls: []Call{call(0, "pay", `{}`)}}}},
			{ID: "g", Kind: Attack, Source: "agentdojo", Suite: "bank"},
		},
	}
	r, err := Replay(t.Context(), d, []Decider{&scripted{asks: map[string]bool{"pay": true}}}, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Sets[0]
	if !reflect.DeepEqual(s.PassedIDs, []string{"d"}) || !reflect.DeepEqual(s.AskedIDs, []string{"b"}) || s.BenignRuns != 2 {
		t.Errorf("%+v", s)
	}
	s.P50, s.P99 = 1, 2
	r.Sets = r.Sets[:1]
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"policy_hash":"","catalog_hash":"","sets":[{"set":"agentdojo-recorded","policy":"scripted","attacks":4,"succeeded":3,"passed":1,"passed_text_only":1,"passed_get_only":1,"benign":1,"silent":0,"at_most_one":1,"questions_per_task":1,"p50_us":1,"p99_us":2}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var b bytes.Buffer
	if err := errors.Join(r.WriteTable(&b), r.WriteGroups(&b)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"1 (25.00 %)", "suite", "bank", "1.00 (1)"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%q is not in\n%s", part, &b)
		}
	}
}
