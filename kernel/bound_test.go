package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
)

// shelf is what sessions left behind, in the order they did.
type shelf []Kept

func (s shelf) Find(refs []floodmark.ArtifactRef) []Kept {
	return slices.DeleteFunc(slices.Clone(s), func(k Kept) bool { return !slices.Contains(refs, k.Ref) })
}

// checkedStep is a step of the session s under a profile.
func checkedStep(t *testing.T, rules string) *step {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n" + rules)})
	if problems.Failed() {
		t.Fatal(problems)
	}
	return newStep(NewState(), NewRules(p, nil), Input{Event: hook.Event{Agent: "a", Session: "s"}})
}

// A check counts as its files if they are the owner's own.
func TestSettled(t *testing.T) {
	load := func(ts ...floodmark.Trust) (list []floodmark.Load) {
		for _, t := range ts {
			list = append(list, floodmark.Load{Label: floodmark.Label{Trust: t, Secrecy: floodmark.Public}})
		}
		return list
	}
	for _, c := range []struct {
		rules string
		b     floodmark.Basis
		want  bool
	}{
		{"profile: coding", floodmark.Basis{Bound: true}, true},
		{"profile: coding", floodmark.Basis{Bound: true, Loads: load(floodmark.Local)}, true},
		{"profile: coding", floodmark.Basis{Bound: true, Loads: load(floodmark.Local, floodmark.Shared)}, false},
		{"profile: coding", floodmark.Basis{Bound: true, Loads: load(floodmark.Untrusted)}, false},
		{"profile: coding", floodmark.Basis{}, false},
		{"profile: assistant", floodmark.Basis{Bound: true}, false},
	} {
		st := checkedStep(t, c.rules)
		if got := st.settled(&c.b); got != c.want {
			t.Errorf("%s %+v: %v", c.rules, c.b, got)
		}
		q := policy.Question{Effects: []floodmark.Effect{floodmark.Run}, Reach: policy.Reach{Network: true}}
		st.raise(&q, &c.b)
		if raised := slices.Contains(q.Raised, policy.Raised{Effect: floodmark.Run, Trust: floodmark.Local}); raised != c.want || q.Reach.Network == c.want || len(q.Raised) > 1 {
			t.Errorf("%s %+v: raised %v, network %v", c.rules, c.b, q.Raised, q.Reach.Network)
		}
	}
}

func TestRaise(t *testing.T) {
	st, strict := checkedStep(t, "profile: coding"), checkedStep(t, "profile: coding\nrelax: false")
	for e, want := range map[floodmark.Effect]bool{floodmark.Send: true, floodmark.Fetch: true, floodmark.Write: false} {
		q := policy.Question{Effects: []floodmark.Effect{floodmark.Run, e}}
		if st.raise(&q, &floodmark.Basis{Bound: true}); q.Reach.Network != want {
			t.Errorf("a check that does %s as well: network %v", e, q.Reach.Network)
		}
	}
	push := policy.Raised{Effect: floodmark.Send, Trust: floodmark.Owner}
	var yes, no, off policy.Question
	st.raise(&yes, &floodmark.Basis{Pushed: true})
	st.raise(&no, &floodmark.Basis{})
	strict.raise(&off, &floodmark.Basis{Pushed: true})
	if !slices.Equal(yes.Raised, []policy.Raised{push}) || no.Raised != nil || off.Raised != nil {
		t.Errorf("a push: %v, none %v, not relaxed %v", yes.Raised, no.Raised, off.Raised)
	}
	effects := []floodmark.Effect{floodmark.Change, floodmark.Run}
	for tidies, want := range map[bool]floodmark.Effect{true: floodmark.Write, false: floodmark.Change} {
		q := policy.Question{Effects: effects}
		st.raise(&q, &floodmark.Basis{Tidies: tidies})
		if !slices.Equal(q.Effects, []floodmark.Effect{want, floodmark.Run}) || effects[0] != floodmark.Change {
			t.Errorf("tidies %v: %v of %v", tidies, q.Effects, effects)
		}
	}
}

// A session tidies up what it wrote itself.
func TestTidies(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	own := Kept{Version: floodmark.ArtifactVersion{Session: "s"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/own")}}
	other := Kept{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/other")}}
	st.in.Artifacts = shelf{own, other}
	for _, c := range []struct {
		use  catalog.Use
		want bool
	}{
		{catalog.Use{Tidies: true}, true},
		{catalog.Use{Tidies: true, Removes: []string{"/p/own"}}, true},
		{catalog.Use{Removes: []string{"/p/own"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/other"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/own", "/p/other"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/unknown"}}, false},
	} {
		if got := st.tidies(&c.use); got != c.want {
			t.Errorf("%+v: %v", c.use, got)
		}
	}
}

// linkDisk is a disk on which one folder is a link.
type linkDisk struct{ pushDisk }

func (linkDisk) Resolve(p string) string { return strings.Replace(p, "/p/link/", "/home/", 1) }

// A file is not the session's because one of that name once was.
func TestTidiesFollowsLinks(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	st.in.Artifacts = shelf{{Version: floodmark.ArtifactVersion{Session: "s"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/link/a")}}}
	use := catalog.Use{Tidies: true, Removes: []string{"/p/link/a"}}
	if !st.tidies(&use) {
		t.Error("without a link")
	}
	if st.in.Disk = (linkDisk{}); st.tidies(&use) {
		t.Error("through a link")
	}
}

// Why nobody was asked, in words.
func TestSpared(t *testing.T) {
	decided := func(e floodmark.Effect, b *floodmark.Basis, trust floodmark.Trust) floodmark.ActionDecided {
		return floodmark.ActionDecided{
			Action: floodmark.Action{Effects: []floodmark.Effect{e}}, Basis: b,
			Mark: floodmark.Label{Trust: trust}, Decision: floodmark.Decision{Verdict: floodmark.Allow},
		}
	}
	all := &floodmark.Basis{Bound: true, Pushed: true, Tidies: true}
	for e, want := range map[floodmark.Effect]string{floodmark.Run: "all code", floodmark.Send: "push", floodmark.Change: "deletes", floodmark.Write: ""} {
		got := Spared(decided(e, all, floodmark.Untrusted))
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, ";") {
			t.Errorf("%s: %q", e, got)
		}
		none, local := Spared(decided(e, &floodmark.Basis{}, floodmark.Untrusted)), Spared(decided(e, all, floodmark.Local))
		asked, granted := decided(e, all, floodmark.Untrusted), decided(e, all, floodmark.Untrusted)
		asked.Decision.Verdict, granted.Decision.Reasons = floodmark.Confirm, []floodmark.Reason{{}}
		if none+local+Spared(asked)+Spared(granted)+Spared(decided(e, nil, floodmark.Untrusted)) != "" {
			t.Errorf("%s: a reason where there is none", e)
		}
	}
	if e := Retell(NewState(), decided(floodmark.Run, all, floodmark.Untrusted)); !slices.ContainsFunc(e.Reasons, func(r string) bool { return strings.HasPrefix(r, "allow: all code") }) {
		t.Errorf("retold: %q", e.Reasons)
	}
}

// What can only compute has no hand in what a file does.
func TestActing(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	word := func(session floodmark.SessionID, inert bool) Kept {
		return Kept{
			Version:  floodmark.ArtifactVersion{Session: session},
			Artifact: floodmark.Artifact{Ref: fileRef("/p/a"), Inert: inert, Sources: []floodmark.Source{{Label: floodmark.Label{Trust: floodmark.Untrusted}}}},
		}
	}
	for _, c := range []struct {
		kept shelf
		want int
	}{{nil, 0}, {shelf{word("s", true)}, 0}, {shelf{word("s", false)}, 1}, {shelf{word("s", true), word("x", false)}, 1}} {
		st.in.Artifacts = c.kept
		if got := st.acting("/p/a"); len(got) != c.want {
			t.Errorf("%v: %v act", c.kept, got)
		}
		if got := st.fromFiles([]string{"/p/b", "/p/a"}); len(got) != c.want {
			t.Errorf("%v: %v are from files", c.kept, got)
		}
	}
}

// Every package has to be one that the owner named.
func TestStrange(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	st.s.stated.Add(`Install "left-pad"`)
	for _, c := range []struct {
		names []string
		want  bool
	}{{nil, false}, {[]string{"left-pad"}, false}, {[]string{"right-pad"}, true}, {[]string{"left-pad", "right-pad"}, true}, {[]string{"…"}, true}} {
		if got := st.strange(&catalog.Use{Packages: c.names}); got != c.want {
			t.Errorf("%q: %v", c.names, got)
		}
	}
}
