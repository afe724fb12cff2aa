package box

// The machine as the kernel names it, and the newest call that was checked.
const (
	machine = 0xc00000b7
	newest  = 462 // mseal
)
