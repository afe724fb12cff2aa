// Package box runs a command with known limits: it reads the system and one project, writes a copy
// of that project, and reaches nothing else of the machine. When all its processes are gone, what
// it wrote is moved into the project, except for files that a program runs or obeys by itself.
//
// The walls are the kernel's namespaces and a system call filter. The box shows an allow-list: it
// begins empty, and what is not named is not there. If any part cannot be set up, it ends with
// [Refused] and one line that says why; then nothing has run.
//
// Everything of the machine is shown by overlays, also where nothing is written: a read-only mount
// still lets a program connect to a socket that lies there. Overlays are volatile, so nothing in a
// box waits for the disk: 500 changed files took 0.23 seconds in place of 0.69. As root a control
// group bounds processes, because the kernel counts none for root.
package box

// Refused is the exit code of a box that could not be made.
const Refused = 125
