package boxticket

import (
	"os"
	"testing"
)

// A box that takes its ticket while the monitor ends the call and forgets the ticket runs only if
// the monitor knows that it may, and keeps nothing unless the monitor waited for it. The test plays
// every order of their steps.
func TestATicketIsTakenWhileItIsForgotten(t *testing.T) {
	c := newCounter(t)
	played, ran, kept := 0, 0, 0
	const ofTheBox, ofTheDesk = 6, 7
	for _, order := range orders(ofTheBox, ofTheDesk) {
		r := newRace(c)
		r.play(order)
		played++
		if r.ran {
			ran++
		}
		if r.kept {
			kept++
		}
		if r.ran && r.state == Unredeemed {
			t.Errorf("%v: it ran, and the monitor believes that it never did", order)
		}
		if r.kept && !r.waited {
			t.Errorf("%v: it kept what it wrote, and the monitor did not wait for it", order)
		}
		if r.kept && r.ended {
			t.Errorf("%v: it kept what it wrote when its call was over", order)
		}
		c.do(c.Forget(r.name))
	}
	if list, err := os.ReadDir(c.path); err != nil || len(list) > 0 {
		t.Errorf("%d files are left, %v", len(list), err)
	}
	if ran == 0 || kept == 0 || ran == played {
		t.Errorf("of %d orders it ran in %d and kept something in %d", played, ran, kept)
	}
}

// orders returns all orders in which these numbers of steps of a box and of a desk can be made.
// True is a step of the box.
func orders(box, desk int) (list [][]bool) {
	if box == 0 && desk == 0 {
		return [][]bool{nil}
	}
	if box > 0 {
		for _, o := range orders(box-1, desk) {
			list = append(list, append([]bool{true}, o...))
		}
	}
	if desk > 0 {
		for _, o := range orders(box, desk-1) {
			list = append(list, append([]bool{false}, o...))
		}
	}
	return list
}

// A race is one ticket that is taken and forgotten at once.
type race struct {
	counter
	name string
	take *taking
	away *forgetting
	box  []func() error
	desk []func() error

	state                    State
	ran, kept, ended, waited bool
}

func newRace(c counter) *race {
	r := &race{counter: c, name: c.mint(order())}
	f, err := openFolder(c.path, c.uid)
	c.do(err)
	r.take = &taking{f: f, name: r.name + waiting, taken: r.name + taken, limit: maxTicket}
	r.away = &forgetting{f: f, name: r.name}
	keep := func() error {
		r.ran = true
		first, err := f.claim(r.name + over)
		r.kept = err == nil && first
		return err
	}
	r.box = append(r.take.steps(), keep, func() error { return r.take.file.Close() })
	end := func() error {
		if r.waited = f.exists(r.name + over); r.waited { // End would wait
			r.finish(&r.box)
		}
		r.ended = !r.waited
		return r.End(r.name)
	}
	read := func() (err error) {
		r.state, _, err = r.Read(r.name)
		return err
	}
	r.desk = append([]func() error{end, read}, r.away.steps()...)
	return r
}

// play makes the steps in an order. If the box would have to wait for the desk's lock, the desk
// first makes its remaining steps.
func (r *race) play(order []bool) {
	defer r.take.f.close()
	for _, box := range order {
		if !box {
			r.next(&r.desk)
			continue
		}
		if r.away.lock != nil && len(r.box) == 4 { // the box waits for the lock
			r.finish(&r.desk)
		}
		r.next(&r.box)
	}
	r.finish(&r.desk)
	r.finish(&r.box)
}

// next makes one step. After an error, that side makes no more steps.
func (r *race) next(steps *[]func() error) {
	if len(*steps) == 0 {
		return
	}
	step := (*steps)[0]
	*steps = (*steps)[1:]
	if step() != nil {
		*steps = nil
	}
	if steps == &r.desk && len(*steps) == 0 {
		r.away.release()
		r.away.lock = nil
	}
}

func (r *race) finish(steps *[]func() error) {
	for len(*steps) > 0 {
		r.next(steps)
	}
}
