// Package box runs a command where the most it can do is known: it reads the
// system and one project, writes a copy of that project, and reaches nothing
// else of the machine. When all its processes are gone, what it wrote is moved
// into the project, except for files that something runs or obeys by itself.
//
// The walls are the kernel's namespaces and a system call filter. What the box
// shows is an allow-list: it begins empty, and what is not named is not there.
// Whatever cannot be set up ends it with [Refused] and one line that says why;
// then nothing has run.
package box

// Refused is the exit code of a box that could not be made.
const Refused = 125
