package kernel

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
)

// Each of these alone is enough: no pause lifts it.
func TestUnpausable(t *testing.T) {
	plain := func() *judged {
		return &judged{action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Send}}}
	}
	if unpausable(plain()) {
		t.Fatal("a plain mail is lifted")
	}
	for name, change := range map[string]func(j *judged){
		"unreadable":  func(j *judged) { j.basis.Unreadable = true },
		"protected":   func(j *judged) { j.basis.SelfProtected = true },
		"interactive": func(j *judged) { j.basis.Interactive = true },
		"a secret":    func(j *judged) { j.basis.SecretInArgs = true },
		"a key file":  func(j *judged) { j.basis.SecretPath, j.basis.Network = true, true },
		"known":       func(j *judged) { j.basis.Carried = []floodmark.Carried{{Rule: "key"}} },
		"nothing":     func(j *judged) { j.action.Effects = nil },
		"admin":       func(j *judged) { j.action.Effects = append(j.action.Effects, floodmark.Admin) },
	} {
		j := plain()
		if change(j); !unpausable(j) {
			t.Errorf("%s is lifted", name)
		}
	}
	for _, j := range []*judged{{basis: floodmark.Basis{SecretPath: true}}, {basis: floodmark.Basis{Network: true}}} {
		j.action.Effects = []floodmark.Effect{floodmark.Observe}
		if unpausable(j) {
			t.Errorf("%+v is not lifted", j.basis)
		}
	}
	for code, want := range map[floodmark.Code]bool{
		floodmark.FlowSecret: true, floodmark.SelfProtection: true, floodmark.Interactive: true, floodmark.Unjudged: true, floodmark.Denied: true,
		floodmark.Verified: true, floodmark.TaintEscalation: false, floodmark.FlowPrivate: false, floodmark.RuleMatched: false,
	} {
		j := plain()
		j.decision.Reasons = []floodmark.Reason{{Code: floodmark.TaintEscalation}, {Code: code, Verdict: floodmark.Confirm}}
		if unpausable(j) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
	j := plain()
	j.decision.Reasons = []floodmark.Reason{{Code: floodmark.Verified, Verdict: floodmark.Allow}}
	if unpausable(j) {
		t.Error("the yes of a verifier is no no")
	}
}

// Forgetting the pause of one session leaves the others.
func TestEndPause(t *testing.T) {
	at := time.Unix(100, 0)
	s := &State{Opened: true}
	for _, of := range []floodmark.SessionID{"", "a", "b", "a"} {
		if err := s.Apply(floodmark.PauseBegan{Pause: floodmark.Pause{Session: of, From: at, Until: at.Add(1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Pauses) != 3 {
		t.Errorf("%+v", s.Pauses)
	}
	for i, of := range []floodmark.SessionID{"a", "c", "", "b"} {
		if err := s.Apply(floodmark.PauseEnded{Session: of}); err != nil || len(s.Pauses) != []int{2, 2, 1, 0}[i] {
			t.Errorf("%s: %+v %v", of, s.Pauses, err)
		}
	}
	if s.Pauses != nil {
		t.Error("an emptied list is none")
	}
	p := floodmark.Pause{Session: "a", From: at, Until: at.Add(5)}
	for _, o := range []floodmark.Pause{{From: at, Until: at.Add(5)}, {Session: "a", From: at.Add(1), Until: at.Add(5)}, {Session: "a", From: at, Until: at.Add(6)}} {
		if p.Same(o) || !p.Same(p) {
			t.Errorf("%+v", o)
		}
	}
}
