package monitor

// An Occupancy is how full a monitor is at one moment.
type Occupancy struct {
	Sessions int   // sessions in memory
	Bytes    int64 // the memory that these sessions take, approximately
	InFlight int   // events being worked on, or waiting for their session's turn
	Waiters  int   // callers of [Monitor.Await]
}

// Occupancy returns how full m is, in constant time under one lock.
func (m *Monitor) Occupancy() Occupancy {
	m.seats.mu.Lock()
	n, bytes := len(m.seats.all), m.seats.bytes
	m.seats.mu.Unlock()
	return Occupancy{Sessions: n, Bytes: bytes, InFlight: len(m.slots), Waiters: len(m.waits)}
}
