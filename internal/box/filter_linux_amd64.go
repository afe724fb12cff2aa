package box

// The machine as the kernel names it, and the newest call that was looked at.
const (
	machine = 0xc000003e
	newest  = 462 // mseal; those of the 32-bit numbering lie above
)
