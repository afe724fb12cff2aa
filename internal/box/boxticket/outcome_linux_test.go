package boxticket

import (
	"crypto/rand"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// taken mints a ticket and redeems it.
func (c counter) taken() (string, *Redeemed) {
	c.t.Helper()
	name := c.mint(order())
	r, err := c.redeem(name)
	c.do(err)
	return name, r
}

func (c counter) want(name string, want State) *Outcome {
	c.t.Helper()
	state, o, err := c.Read(name)
	if state != want || err != nil {
		c.t.Errorf("state %v, want %v; %v", state, want, err)
	}
	return o
}

func TestOutcome(t *testing.T) {
	c := newCounter(t)
	name, r := c.taken()
	c.want(name, Running)
	half := Outcome{Stage: StageMoving, Exit: 2, Changes: []Change{{Path: "a", Kind: "file", SHA256: "x"}, {Path: "AGENTS.md", Kind: "file", Refused: "no"}}}
	c.do(r.Report(half))
	if o := c.want(name, Running); len(o.Changes) != 2 {
		t.Errorf("%+v", o)
	}
	half.Stage, half.Hosts, half.Left = StageEnded, []string{"github.com"}, true
	c.do(r.Report(half))
	r.Close()
	o := c.want(name, Ran)
	half.Name, half.Session, half.Call, half.Redeemed = name, "s1", "c1", noon()
	if !reflect.DeepEqual(*o, half) {
		t.Errorf("%+v, want %+v", *o, half)
	}
	c.do(c.Forget(name))
	c.want(name, Unredeemed) // removing all of it cannot make it look as if a box ran
	if list, err := os.ReadDir(c.path); err != nil || len(list) > 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}

// The last outcome of a box that was killed can be read, and the box is not taken for one that
// ended.
func TestOutcomeOfABoxThatWasKilled(t *testing.T) {
	c := newCounter(t)
	name, r := c.taken()
	r.Close()
	if o := c.want(name, Lost); o != nil {
		t.Errorf("%+v", o)
	}
	name, r = c.taken()
	c.do(r.Report(Outcome{Stage: StageMoving, Changes: []Change{{Path: "a"}}}))
	r.Close()
	if o := c.want(name, Lost); len(o.Changes) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestOutcomesThatAreNotBelieved(t *testing.T) {
	for what, do := range map[string]func(c counter, name string){
		"edited":   func(c counter, name string) { c.edit(name+outcome, `"exit":0`, `"exit":1`) },
		"unsealed": func(c counter, name string) { c.do(os.WriteFile(c.file(name+outcome), []byte(`{"name":"x"}`), 0o600)) },
		"empty":    func(c counter, name string) { c.do(os.Truncate(c.file(name+outcome), 0)) },
		"of another": func(c counter, name string) {
			other, r := c.taken()
			c.do(r.Report(Outcome{Stage: StageEnded}))
			r.Close()
			c.do(os.Rename(c.file(other+outcome), c.file(name+outcome)))
		},
		"linked": func(c counter, name string) {
			c.do(os.Rename(c.file(name+outcome), c.file("x")))
			c.do(os.Symlink("x", c.file(name+outcome)))
		},
		"group writes": func(c counter, name string) { c.do(os.Chmod(c.file(name+outcome), 0o620)) },
		"too long":     func(c counter, name string) { c.do(os.Truncate(c.file(name+outcome), maxOutcome+1)) },
	} {
		c := newCounter(t)
		name, r := c.taken()
		c.do(r.Report(Outcome{Stage: StageEnded}))
		r.Close()
		do(c, name)
		if state, o, err := c.Read(name); state != Lost || o != nil || err == nil {
			t.Errorf("%s: %v, %+v, %v", what, state, o, err)
		}
	}
	c := newCounter(t)
	name, r := c.taken()
	c.do(r.Report(Outcome{Stage: StageEnded}))
	later := newCounter(t)
	later.path = c.path
	if state, _, err := later.Read(name); state != Lost || err == nil {
		t.Errorf("another monitor's: %v, %v", state, err)
	}
}

// After a restart of the monitor, none of its earlier boxes can keep its writes. Boxes of other
// monitors are not affected.
func TestCallsOfAnEarlierStart(t *testing.T) {
	c := newCounter(t)
	if list, err := c.TakeOver(); err != nil || len(list) > 0 {
		t.Errorf("before the first ticket: %v, %v", list, err)
	}
	waits := c.mint(order())
	runs, running := c.taken()
	_, ended := c.taken()
	ended.Close()
	other, err := NewDesk(c.path, c.uid, "another", rand.Reader)
	c.do(err)
	foreign, err := other.Mint(order(), noon())
	c.do(err)
	theirs, err := c.redeem(foreign)
	c.do(err)
	again, err := NewDesk(c.path, c.uid, "monitor", rand.Reader)
	c.do(err)
	list, err := again.TakeOver()
	if err != nil || len(list) != 2 || !slices.Contains(list, Left{waits, "s1", "c1"}) || !slices.Contains(list, Left{Name: runs}) {
		t.Errorf("%v, %v", list, err)
	}
	if running.Keep() == nil {
		t.Error("a box of an earlier start keeps what it wrote")
	}
	c.do(theirs.Keep())
}

func TestOutcomeHasLimits(t *testing.T) {
	c := newCounter(t)
	name, r := c.taken()
	o := Outcome{Stage: StageEnded, Why: strings.Repeat("w", maxText+1)}
	for i := range maxChanges + 1 {
		o.Changes = append(o.Changes, Change{Path: fmt.Sprint(i), Kind: "file"})
	}
	for i := range maxHosts + 1 {
		o.Hosts = append(o.Hosts, fmt.Sprint(i))
	}
	c.do(r.Report(o))
	got := c.want(name, Ran)
	if len(got.Changes) != maxChanges || !got.Cut || len(got.Hosts) != maxHosts || len(got.Why) != maxText {
		t.Errorf("%d changes, cut %v, %d hosts, %d bytes", len(got.Changes), got.Cut, len(got.Hosts), len(got.Why))
	}
	o = Outcome{Stage: StageEnded}
	long := strings.Repeat("\x01", 4000)
	for range 1000 {
		o.Changes = append(o.Changes, Change{Path: long})
	}
	c.do(r.Report(o))
	if got := c.want(name, Ran); !got.Cut || len(got.Changes) < 200 {
		t.Errorf("%d changes, cut %v", len(got.Changes), got.Cut)
	}
	c.do(r.Report(Outcome{Stage: StageEnded, Changes: []Change{{Path: "a\xff"}, {Path: "b"}}}))
	if got := c.want(name, Ran); !got.Cut || len(got.Changes) != 1 {
		t.Errorf("%d changes, cut %v", len(got.Changes), got.Cut)
	}
}

func TestOldTicketsAreSwept(t *testing.T) {
	c := newCounter(t)
	old := noon().Add(-keepEnded - time.Minute)
	age := func(names ...string) {
		for _, n := range names {
			c.do(os.Chtimes(c.file(n), old, old))
		}
	}
	unused := c.mint(order())
	running, r := c.taken()
	c.do(os.MkdirAll(c.file(running+ownSpace), 0o700))
	ended, e := c.taken()
	c.do(e.Report(Outcome{Stage: StageEnded}))
	e.Close()
	c.do(os.MkdirAll(c.file(ended+ownSpace+"/closed/in"), 0o700))
	c.do(os.Chmod(c.file(ended+ownSpace+"/closed"), 0))
	c.do(os.WriteFile(c.file("notes"), nil, 0o600))
	age(unused+waiting, running+taken, running+ownSpace, ended+taken, ended+outcome, ended+ownSpace, "notes")
	c.mint(order())
	for name, want := range map[string]bool{
		unused + waiting: false, ended + taken: false, ended + outcome: false, ended + ownSpace: false,
		running + taken: true, running + ownSpace: true, "notes": true,
	} {
		if _, err := os.Lstat(c.file(name)); (err == nil) != want {
			t.Errorf("%s: %v, want it kept: %v", name, err, want)
		}
	}
	r.Close()
}

func TestFewTicketsWait(t *testing.T) {
	c := newCounter(t)
	for range maxOpen {
		c.mint(order())
	}
	if _, err := c.Mint(order(), noon()); err == nil || !strings.Contains(err.Error(), "wait already") {
		t.Errorf("%v", err)
	}
}

func FuzzReadOutcome(f *testing.F) {
	name, key := strings.Repeat("0a", markBytes+nameBytes), []byte("key")
	f.Add([]byte(`{"name":"another","session":"s","call":"c","redeemed":"2026-01-02T12:00:00Z","stage":"ended","exit":0}`))
	f.Add([]byte(`{"name":"` + name + `","session":"s","call":"c","redeemed":"2026-01-02T12:00:00Z","stage":"ended","exit":0}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if o, err := readOutcome(body, name, key); err == nil {
			t.Errorf("nobody sealed this: %+v", o)
		}
		o, err := readOutcome(append([]byte(code(key, body)+"\n"), body...), name, key)
		if err == nil && (o.Name != name || o.Stage == "") {
			t.Errorf("%+v", o)
		}
	})
}

// Once its call is over, a box cannot begin to move its writes into the project. If it has begun,
// End waits for it.
func TestTheEndOfACall(t *testing.T) {
	c := newCounter(t)
	name, r := c.taken()
	c.do(c.End(name))
	if err := r.Keep(); err == nil {
		t.Error("a box keeps what it wrote after its call was over")
	}
	c.want(name, Running)
	r.Close()

	name, r = c.taken()
	c.do(r.Keep())
	ended := make(chan error)
	go func() { ended <- c.End(name) }()
	c.do(r.Report(Outcome{Stage: StageEnded}))
	r.Close()
	c.do(<-ended)
	c.want(name, Ran)
	c.do(c.Forget(name))
	if _, err := os.Lstat(c.file(name + over)); err == nil {
		t.Error("something is left of a ticket")
	}
}
