// Package truth runs command lines, watches what they do, and compares that with
// shellscan's reports. Each line runs under strace as a user without rights, in a
// throw-away root without network. What the line opens, writes, deletes, starts
// and connects to becomes its effects. A report that does not cover an effect is
// an under-estimate and fails the test. The package contains only tests:
// `go -C lab test ./truth` runs the small size, `make soak SUITE=shell` the
// published one.
package truth
