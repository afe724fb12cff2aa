package main

// A station is a group of processors, each of which does one piece of work at a time, in the order
// of arrival.
type station struct {
	clock *clock
	cores int
	speed float64 // of one of them; 1 is that of the measurement
	used  int
	queue []work
	busy  float64 // the sum of their working times
}

type work struct {
	takes float64
	then  func()
}

func newStation(c *clock, cores int, speed float64) *station {
	return &station{clock: c, cores: cores, speed: speed}
}

// do does work that takes that long, and then calls then.
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

// load returns the share of the processors' time that was used so far.
func (s *station) load() float64 { return s.busy / s.clock.now / float64(s.cores) }

// A disk flushes for all writers that wait at once. A writer that arrives during a flush waits
// for the next one.
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

// A gatherer passes everything that arrived to the first free writer, as one group. It does not
// wait for more: a single decision is written alone.
type gatherer struct {
	writers int
	most    int // in one group
	waiting []*decision
	groups  int
	// write writes a group and calls done when the group is written.
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
