package monitor

// An Occupancy is how full a monitor is at one moment.
type Occupancy struct {
	Sessions int   // remembered or held
	Bytes    int64 // what they take, approximately
	InFlight int   // events being worked on, or waiting for their session's turn
	Waiters  int   // those who wait for a person's answer
}

// Occupancy returns how full m is, in constant time under one lock.
func (m *Monitor) Occupancy() Occupancy {
	m.seats.mu.Lock()
	n, bytes := len(m.seats.all), m.seats.bytes
	m.seats.mu.Unlock()
	return Occupancy{Sessions: n, Bytes: bytes, InFlight: len(m.slots), Waiters: len(m.waits)}
}
