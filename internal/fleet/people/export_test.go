package people

// By makes a login reach its provider by another network.
func (l Login) By(d Dial) Login {
	l.dial = d
	return l
}

// By makes the logins of a book reach their providers by another network.
func (b *Book) By(d Dial) *Book {
	b.dial = d
	return b
}
