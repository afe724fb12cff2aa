package box

// The machine as the kernel names it, and the newest call that was checked.
const (
	machine = 0xc000003e
	newest  = 462 // mseal; the calls of the 32-bit numbering are above
)
