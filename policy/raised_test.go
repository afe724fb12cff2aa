package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// A raised effect is judged at its own trust, the others at that of the
// conversation. It is never lowered, and never raised to system.
func TestRaised(t *testing.T) {
	change, run, send, admin := floodmark.Change, floodmark.Run, floodmark.Send, floodmark.Admin
	up := func(e floodmark.Effect, t floodmark.Trust) policy.Raised {
		return policy.Raised{Effect: e, Trust: t}
	}
	for _, c := range []struct {
		name    string
		effects []floodmark.Effect
		mark    floodmark.Trust
		raised  []policy.Raised
		want    floodmark.Verdict
	}{
		{"not raised", []floodmark.Effect{change}, floodmark.Untrusted, nil, floodmark.Confirm},
		{"raised", []floodmark.Effect{change}, floodmark.Untrusted, []policy.Raised{up(change, floodmark.Local)}, floodmark.Allow},
		{"another effect is raised", []floodmark.Effect{change}, floodmark.Untrusted, []policy.Raised{up(send, floodmark.Owner)}, floodmark.Confirm},
		{"one of two", []floodmark.Effect{change, send}, floodmark.Untrusted, []policy.Raised{up(change, floodmark.Local)}, floodmark.Confirm},
		{"both", []floodmark.Effect{change, send}, floodmark.Untrusted, []policy.Raised{up(change, floodmark.Owner), up(send, floodmark.Owner)}, floodmark.Allow},
		{"raised too little", []floodmark.Effect{send}, floodmark.Untrusted, []policy.Raised{up(send, floodmark.External)}, floodmark.Confirm},
		{"the higher of two", []floodmark.Effect{change}, floodmark.Untrusted, []policy.Raised{up(change, floodmark.Local), up(change, floodmark.Untrusted)}, floodmark.Allow},
		{"never lowered", []floodmark.Effect{change}, floodmark.Owner, []policy.Raised{up(change, floodmark.Untrusted)}, floodmark.Allow},
		{"nobody raises code", []floodmark.Effect{run}, floodmark.Untrusted, []policy.Raised{up(run, floodmark.Owner)}, floodmark.Confirm},
		{"nobody raises admin", []floodmark.Effect{admin}, floodmark.Untrusted, []policy.Raised{up(admin, floodmark.Owner)}, floodmark.Restrict},
		{"nobody raises admin above the owner", []floodmark.Effect{admin}, floodmark.Owner, []policy.Raised{up(admin, floodmark.System)}, floodmark.Confirm},
	} {
		q := ask("t", c.effects[0], c.mark)
		q.Effects, q.Raised = c.effects, c.raised
		got := shipped(t, "coding").Decide(q)
		if got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// What the owner asked to send may be private. An effect that is raised to less than
// Owner was not asked for by the owner.
func TestRaisedSendOfPrivateData(t *testing.T) {
	for trust, flow := range map[floodmark.Trust]bool{floodmark.Owner: false, floodmark.System: false, floodmark.Local: true, floodmark.Untrusted: true} {
		q := ask("t", floodmark.Send, floodmark.External)
		q.Mark.Secrecy, q.Reach = floodmark.Private, policy.Reach{Network: true, URLArg: -1}
		q.Raised = []policy.Raised{{Effect: floodmark.Send, Trust: trust}}
		if got := shipped(t, "coding").Decide(q); got.Flow != flow {
			t.Errorf("%s: %+v", trust, got)
		}
		q.Raised[0].Effect = floodmark.Run
		if got := shipped(t, "coding").Decide(q); !got.Flow {
			t.Errorf("%s for another effect: %+v", trust, got)
		}
	}
}

// A package that the owner did not name is a question once others were heard.
func TestStrangePackage(t *testing.T) {
	for _, c := range []struct {
		name    string
		mark    floodmark.Trust
		strange bool
		lines   []string
		flow    bool
	}{
		{"local", floodmark.Local, true, nil, true},
		{"shared", floodmark.Shared, true, nil, true},
		{"the owner alone", floodmark.Owner, true, nil, false},
		{"the owner named it", floodmark.Local, false, nil, false},
		{"fetches are not looked at", floodmark.Local, true, []string{"flows: {off: [flow-fetch]}"}, false},
	} {
		q := ask("t", floodmark.Run, c.mark)
		q.Reach = policy.Reach{URLArg: -1}
		if c.strange {
			q.Findings = []floodmark.Finding{floodmark.FetchesPackage}
		}
		got := load(t, user(append([]string{"profile: coding"}, c.lines...)...)).Decide(q)
		asked := got.Verdict == floodmark.Confirm && len(got.Reasons) > 0 && got.Reasons[0].Code == floodmark.FlowFetch
		if got.Flow != c.flow || asked != c.flow {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The owner is asked before a file with secrets is sent, even if the conversation has
// only the owner's words, unless the owner named where the file goes. Nothing is asked
// about a secret that the owner typed.
func TestSecretFileIsSent(t *testing.T) {
	stated, composed := arg("to", floodmark.Stated, floodmark.Owner), arg("to", floodmark.Nowhere, floodmark.Untrusted)
	for _, c := range []struct {
		name   string
		effect floodmark.Effect
		mark   floodmark.Trust
		to     floodmark.Argument
		change func(*policy.Reach)
		flow   bool
	}{
		{"the owner alone", floodmark.Send, floodmark.Owner, composed, nil, true},
		{"a local file was heard", floodmark.Send, floodmark.Local, composed, nil, true},
		{"to where he said", floodmark.Send, floodmark.Owner, stated, nil, false},
		{"typed by himself", floodmark.Send, floodmark.Owner, composed, func(r *policy.Reach) { r.SecretFile = false }, false},
		{"not in what is sent", floodmark.Send, floodmark.Owner, composed, func(r *policy.Reach) { r.SecretInArgs = false }, false},
		{"it is fetched with", floodmark.Fetch, floodmark.Owner, composed, func(r *policy.Reach) { r.Network = false }, true},
		{"it is sent without network", floodmark.Send, floodmark.Owner, composed, func(r *policy.Reach) { r.Network = false }, true},
		{"it is run with network", floodmark.Run, floodmark.Owner, composed, nil, true},
		{"it does not leave", floodmark.Write, floodmark.Owner, composed, func(r *policy.Reach) { r.Network = false }, false},
	} {
		for _, on := range []bool{true, false} {
			q := ask("t", c.effect, c.mark)
			q.Mark.Secrecy, q.Args = floodmark.Secret, []floodmark.Argument{c.to}
			q.Reach = policy.Reach{Network: true, SecretInArgs: true, SecretFile: true, Destinations: []int{0}, URLArg: -1}
			if c.change != nil {
				c.change(&q.Reach)
			}
			lines := []string{"profile: coding"}
			if !on {
				lines = append(lines, "flows: {off: [flow-secret]}")
			}
			if got := load(t, user(lines...)).Decide(q); got.Flow != (c.flow && on) {
				t.Errorf("%s, looked at %v: %+v", c.name, on, got)
			}
		}
	}
}

// Files in the project are the owner's own only under the coding profile.
func TestProjectLocal(t *testing.T) {
	for profile, want := range map[string]bool{"coding": true, "assistant": false, "strict": false, "dry-run": false} {
		if got := load(t, user("profile: "+profile)).ProjectLocal(); got != want {
			t.Errorf("%s: %v", profile, got)
		}
	}
	var none *policy.Policy
	if none.ProjectLocal() {
		t.Error("without a policy")
	}
}
