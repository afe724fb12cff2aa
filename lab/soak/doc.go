// Package soak runs the real program under load and breaks its environment: it kills the program at
// every named point, cuts its power, fills its disk and damages its store. What was acknowledged
// must be there afterwards, and callers that asked meanwhile must have been told no. It contains
// only tests; `go -C lab test ./soak` runs the small size, `make soak SUITE=service` the published
// one.
package soak
