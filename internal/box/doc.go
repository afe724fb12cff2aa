// Package box runs a command with known limits. The command reads the system and one project,
// writes to a layer above that project, and reaches nothing else of the machine. When all its
// processes are gone, the files that it wrote are moved into the project, except for files that a
// program runs or obeys by itself.
//
// The walls are the kernel's namespaces and a system call filter. A box begins empty and shows only
// what is named. If any part cannot be set up, it ends with [Refused] and one line that says why,
// and nothing has run.
//
// Everything of the machine is shown by overlays, even if nothing is written there, because in a
// read-only mount a program could still connect to a socket. Overlays are volatile, so nothing in a
// box waits for the disk: 500 changed files took 0.23 seconds instead of 0.69. For root a control
// group bounds the processes, because the kernel does not count them.
package box

// Refused is the exit code of a box that could not be made.
const Refused = 125
