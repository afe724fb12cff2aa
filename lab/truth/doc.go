// Package truth runs command lines and watches what they do, to hold
// shellscan's reports against it. Each line runs as a user without rights in a
// throw-away root without network, under strace; what was opened, written,
// deleted, started and called becomes effects. A report that does not cover an
// effect is an under-estimate, and one of those fails the test. It holds tests
// only; `go -C lab test ./truth` is the small size, `make soak
// SUITE=shell` the one that is published.
package truth
