package main

// A station is processors that do one piece of work at a time each, first come
// first served.
type station struct {
	clock *clock
	cores int
	speed float64 // of one of them; 1 is one that was measured on
	used  int
	queue []work
	busy  float64 // how long they worked, summed
}

type work struct {
	takes float64
	then  func()
}

func newStation(c *clock, cores int, speed float64) *station {
	return &station{clock: c, cores: cores, speed: speed}
}

// do does work that takes so long, and then what follows it.
func (s *station) do(takes float64, then func()) {
	if s.used == s.cores {
		s.queue = append(s.queue, work{takes, then})
		return
	}
	s.used++
	s.begin(work{takes, then})
}

func (s *station) begin(w work) {
	took := w.takes / s.speed
	s.clock.after(took, func() {
		s.busy += took
		if len(s.queue) > 0 {
			next := s.queue[0]
			s.queue = s.queue[1:]
			s.begin(next)
		} else {
			s.used--
		}
		w.then()
	})
}

// load is which share of the processors was used up to now.
func (s *station) load() float64 { return s.busy / s.clock.now / float64(s.cores) }

// A disk is flushed for all who wait at once; who comes meanwhile waits for the
// next time.
type disk struct {
	clock   *clock
	takes   float64
	busy    bool
	waiting []func()
	flushes int
}

func (d *disk) flush(then func()) {
	d.waiting = append(d.waiting, then)
	if !d.busy {
		d.begin()
	}
}

func (d *disk) begin() {
	all := d.waiting
	d.waiting, d.busy = nil, true
	d.clock.after(d.takes, func() {
		d.flushes++
		d.busy = false
		if len(d.waiting) > 0 {
			d.begin()
		}
		for _, then := range all {
			then()
		}
	})
}

// A gatherer hands what has come since to the first writer that is free, as one
// group. It waits for nothing: who comes alone goes alone.
type gatherer struct {
	writers int
	most    int // in one group
	waiting []*decision
	groups  int
	// write writes a group and calls done when it is written.
	write func(group []*decision, done func())
}

func (g *gatherer) add(d *decision) {
	g.waiting = append(g.waiting, d)
	g.begin()
}

func (g *gatherer) begin() {
	if g.writers == 0 || len(g.waiting) == 0 {
		return
	}
	n := min(len(g.waiting), g.most)
	group := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.writers--
	g.groups++
	g.write(group, func() {
		g.writers++
		g.begin()
	})
}
