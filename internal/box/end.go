package box

import "syscall"

// An End is what is known of a command when all processes of its box are gone.
type End struct {
	Status syscall.WaitStatus
	// Hosts are names that the command looked up, in the order of the first time.
	// None was found. Inside another sandbox, with [Spec.NoNetwork], none is known.
	Hosts []string
	// Left says that processes still ran when the command ended. They ended too.
	Left bool
}
