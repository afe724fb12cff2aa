package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/rules/bundle"
)

// A laptopReport is the published report of a run.
type laptopReport struct {
	Suite     string        `json:"suite"`
	Commit    string        `json:"commit"`
	Laptops   int           `json:"laptops"`
	Processes int           `json:"processesOfTheRealProgram"`
	Nodes     int           `json:"nodes"`
	Offline   int           `json:"offlinePercentAtAnyTime"`
	Cuts      int64         `json:"timesALaptopWentOffline"`
	Kills     int64         `json:"restartsInTheMiddleOfAContact"`
	Hard      int           `json:"killMinus9OfRealPrograms"`
	Sessions  int           `json:"sessions"`
	Entries   int           `json:"entries"`
	Lost      int           `json:"entriesLost"`
	Doubled   int           `json:"entriesDoubled"`
	Heads     int           `json:"headsEqual"`
	Forks     int64         `json:"forks"`
	Phases    []laptopPhase `json:"phases"`
	Revoked   string        `json:"revokedLaptop"`
	Seconds   float64       `json:"seconds"`
}

// A laptopPhase is one rollout, and how long it took until every laptop had its version.
type laptopPhase struct {
	What    string  `json:"what"`
	Next    int     `json:"laptopsOfTheShare"`
	Wrong   int     `json:"laptopsWithAWrongVersion"`
	Seconds float64 `json:"secondsUntilAllHadTheirs"`
}

// offlineShare is how many of a hundred laptops are offline at any time.
const offlineShare = 30

// Laptops join a fleet of two nodes, write all the time, go offline and come back. Some are killed.
// A bundle goes to a tenth of the laptops and then to all. Another bundle goes to a tenth and is
// then revoked. One laptop is revoked, too. In the end the fleet must have each entry of every
// other laptop exactly once, with the same heads, and each laptop must have its bundle.
func TestLaptops(t *testing.T) {
	long(t)
	if *laptops == 0 {
		t.Skip("say -laptops 20 where PostgreSQL is installed; .ci/fleet does")
	}
	began := time.Now()
	f := newLaptopFleet(t, 2)
	r := laptopReport{Suite: "laptops", Commit: commit(t), Laptops: *laptops, Nodes: 2, Offline: offlineShare}
	f.publish(1, 2, 3)
	f.roll(bundle.Rollout{Stable: 1})
	crowd := f.crowd(*laptops, max(2, *laptops/20))
	r.Processes = len(crowd.hard)

	r.Phases = append(r.Phases, crowd.settle("version 1 to all", bundle.Rollout{Stable: 1}))
	stop := crowd.churn()
	for _, step := range []struct {
		what string
		to   bundle.Rollout
	}{
		{"version 2 to a tenth", bundle.Rollout{Stable: 1, Next: 2, Share: 1000}},
		{"version 2 to all", bundle.Rollout{Stable: 2}},
		{"version 3 to a tenth", bundle.Rollout{Stable: 2, Next: 3, Share: 1000}},
		{"version 3 is revoked", bundle.Rollout{Stable: 2, Revoked: []uint64{3}}},
	} {
		to := crowd.reaching(step.to)
		f.roll(to)
		r.Phases = append(r.Phases, crowd.settle(step.what, to))
		r.Hard += crowd.killHard()
		time.Sleep(*laptopsIn)
	}
	gone := crowd.soft[0]
	if err := f.book.End(t.Context(), laptopTenant, machines.ID(gone.member.Machine), machines.Revoked, "admin", time.Now()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(*laptopsIn)
	stop()
	crowd.finish(gone, &r)
	r.Seconds = time.Since(began).Seconds()
	for _, p := range r.Phases {
		if p.Wrong > 0 {
			t.Errorf("%s: %d laptops have another version", p.What, p.Wrong)
		}
	}
	if r.Lost+r.Doubled > 0 || r.Forks > 0 || r.Heads != r.Sessions || r.Entries == 0 {
		t.Errorf("of %d entries in %d sessions %d are lost and %d doubled; %d heads equal, %d forks", r.Entries, r.Sessions, r.Lost, r.Doubled, r.Heads, r.Forks)
	}
	writeEvidence(t, "laptops.json", "", r)
}

// A laptopCrowd is all laptops.
type laptopCrowd struct {
	f    *laptopFleet
	soft []*softLaptop // in this process, with the real journal and the real link
	hard []*hardLaptop // the real program
	rand *rand.Rand

	mu    sync.Mutex // guards below
	cuts  int64
	kills int64
}

func (f *laptopFleet) crowd(n, hard int) *laptopCrowd {
	f.t.Helper()
	c := &laptopCrowd{f: f, rand: rand.New(rand.NewPCG(*seed, 7))}
	for i := range hard {
		c.hard = append(c.hard, f.hardLaptop(fmt.Sprint("h", i)))
	}
	for i := range n - hard {
		c.soft = append(c.soft, f.softLaptop(fmt.Sprint("s", i)))
	}
	return c
}

// churn takes soft laptops offline and others online, so that the offline share is the same at any
// time. It kills some of those that come back. Laptops with the real program stay online; killHard
// kills them.
func (c *laptopCrowd) churn() (stop func()) {
	offline := map[int]bool{}
	want := (len(c.soft) + len(c.hard)) * offlineShare / 100
	for len(offline) < want {
		i := c.rand.IntN(len(c.soft))
		if !offline[i] {
			offline[i] = true
			c.soft[i].online(false)
		}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
			}
			out, in := c.rand.IntN(len(c.soft)), c.rand.IntN(len(c.soft))
			if offline[out] || !offline[in] {
				continue
			}
			delete(offline, in)
			offline[out] = true
			c.soft[out].online(false)
			c.soft[in].online(true)
			c.mu.Lock()
			c.cuts++
			if c.cuts%5 == 0 {
				c.soft[in].kill()
				c.kills++
			}
			c.mu.Unlock()
		}
	}()
	return func() {
		close(quit)
		<-done
		for _, l := range c.soft {
			l.online(true)
		}
	}
}

// reaching returns the rollout with a share that includes at least one soft laptop, because a tenth
// of a few laptops may be none.
func (c *laptopCrowd) reaching(r bundle.Rollout) bundle.Rollout {
	r.Tenant = laptopTenant
	for r.Next != 0 && r.Share < bundle.Everybody/2 && !slices.ContainsFunc(c.soft, func(l *softLaptop) bool { return r.For(l.member.Machine) == r.Next }) {
		r.Share += bundle.Everybody / 20
	}
	return r
}

// settle waits until every laptop has the version that a rollout assigns to it.
func (c *laptopCrowd) settle(what string, r bundle.Rollout) laptopPhase {
	began, end := time.Now(), patience(c.f.t)
	r.Tenant = laptopTenant
	p := laptopPhase{What: what}
	for {
		p.Wrong, p.Next = 0, 0
		count := func(machine string, has uint64) {
			if want := r.For(machine); has != want {
				p.Wrong++
			} else if want == r.Next && want != 0 {
				p.Next++
			}
		}
		for _, l := range c.soft {
			count(l.member.Machine, l.version())
		}
		for _, l := range c.hard {
			count(l.machine, l.version())
		}
		if p.Wrong == 0 || time.Now().After(end) {
			p.Seconds = time.Since(began).Seconds()
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// killHard kills the real program of every hard laptop while it works, and starts it again.
func (c *laptopCrowd) killHard() int {
	for _, l := range c.hard {
		l.load()
		l.kill()
		l.start()
	}
	return len(c.hard)
}

// finish stops all laptops from writing, waits until the fleet has everything they wrote, and
// compares both.
func (c *laptopCrowd) finish(gone *softLaptop, r *laptopReport) {
	c.f.t.Helper()
	for _, l := range c.soft {
		l.rest()
	}
	for _, l := range c.hard {
		l.load()
	}
	for end := patience(c.f.t); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		behind := 0
		for _, l := range c.soft {
			if l != gone && !l.done() {
				behind++
			}
		}
		if behind == 0 {
			break
		}
	}
	for _, l := range c.hard {
		c.f.quiet(l.machine)
		l.stop()
	}
	for _, l := range c.soft {
		l.close()
		if l == gone {
			r.Revoked = c.f.heldBack(l)
			continue
		}
		c.f.compare(l.member.Machine, l.dir, r)
	}
	for _, l := range c.hard {
		c.f.compare(l.machine, l.dir, r)
	}
	r.Cuts, r.Kills = c.cuts, c.kills
	list, err := machinestest.All(c.f.t.Context(), c.f.book, laptopTenant)
	if err != nil || len(list) != r.Laptops {
		c.f.t.Fatalf("%d laptops are known, %v", len(list), err)
	}
	for _, m := range list {
		r.Forks += m.Forks
	}
}
