package lull_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/lull"
)

func call() lull.Call {
	return lull.Call{Action: &floodmark.Action{Effects: []floodmark.Effect{floodmark.Send}}, Basis: &floodmark.Basis{}}
}

// A call with any one of these is not lifted by a pause.
func TestUnpausable(t *testing.T) {
	if lull.Unpausable(call()) {
		t.Fatal("a plain mail is lifted")
	}
	for name, change := range map[string]func(c lull.Call){
		"unreadable":  func(c lull.Call) { c.Basis.Unreadable = true },
		"protected":   func(c lull.Call) { c.Basis.SelfProtected = true },
		"interactive": func(c lull.Call) { c.Basis.Findings = []floodmark.Finding{floodmark.TakesCommands} },
		"older":       func(c lull.Call) { c.Basis.Interactive = true }, // journals
		"a secret":    func(c lull.Call) { c.Basis.SecretInArgs = true },
		"a key file":  func(c lull.Call) { c.Basis.SecretPath, c.Basis.Network = true, true },
		"known":       func(c lull.Call) { c.Basis.Carried = []floodmark.Carried{{Rule: "key"}} },
		"nothing":     func(c lull.Call) { c.Action.Effects = nil },
		"admin":       func(c lull.Call) { c.Action.Effects = append(c.Action.Effects, floodmark.Admin) },
	} {
		c := call()
		if change(c); !lull.Unpausable(c) {
			t.Errorf("%s is lifted", name)
		}
	}
	for _, b := range []*floodmark.Basis{{SecretPath: true}, {Network: true}} {
		if lull.Unpausable(lull.Call{Action: &floodmark.Action{Effects: []floodmark.Effect{floodmark.Observe}}, Basis: b}) {
			t.Errorf("%+v is not lifted", b)
		}
	}
	for code, want := range map[floodmark.Code]bool{
		floodmark.FlowSecret: true, floodmark.Undescribed: true, floodmark.SelfProtection: true, floodmark.Interactive: true, floodmark.Unjudged: true, floodmark.Denied: true,
		floodmark.Verified: true, floodmark.TaintEscalation: false, floodmark.FlowPrivate: false, floodmark.RuleMatched: false,
	} {
		c := call()
		c.Reasons = []floodmark.Reason{{Code: floodmark.TaintEscalation}, {Code: code, Verdict: floodmark.Confirm}}
		if lull.Unpausable(c) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
	c := call()
	c.Reasons = []floodmark.Reason{{Code: floodmark.Verified, Verdict: floodmark.Allow}}
	if lull.Unpausable(c) {
		t.Error("the yes of a verifier is no no")
	}
}

// A call with any one of these is enforced even while the owner only observes. A secret is not.
func TestGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c lull.Call)
		want   bool
	}{
		"a mail":               {func(lull.Call) {}, false},
		"a secret":             {func(c lull.Call) { c.Basis.SecretInArgs = true }, false},
		"unreadable":           {func(c lull.Call) { c.Basis.Unreadable = true }, true},
		"protected":            {func(c lull.Call) { c.Basis.SelfProtected, c.Basis.Inside = true, true }, true},
		"interactive":          {func(c lull.Call) { c.Basis.Findings = []floodmark.Finding{floodmark.TakesCommands} }, true},
		"of an older journal":  {func(c lull.Call) { c.Basis.Interactive = true }, true},
		"nothing":              {func(c lull.Call) { c.Action.Effects = nil }, true},
		"admin":                {func(c lull.Call) { c.Action.Effects = []floodmark.Effect{floodmark.Write, floodmark.Admin} }, true},
		"admin in the project": {func(c lull.Call) { c.Action.Effects, c.Basis.Inside = []floodmark.Effect{floodmark.Admin}, true }, false},
	} {
		one := call()
		if c.change(one); lull.Guarded(one) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	for code, want := range map[floodmark.Code]bool{
		floodmark.SelfProtection: true, floodmark.Interactive: true, floodmark.Unjudged: true, floodmark.Denied: true,
		floodmark.FlowSecret: false, floodmark.Undescribed: false, floodmark.Verified: false, floodmark.RuleMatched: false,
	} {
		c := call()
		c.Reasons = []floodmark.Reason{{Code: code, Verdict: floodmark.Restrict}}
		if lull.Guarded(c) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
}
