// Package soak runs the real program under load and takes it away: it kills it
// at every named point, cuts its power, fills its disk and damages its store.
// What was acknowledged must be there afterwards, and callers that asked meanwhile
// must have been told no. It holds tests only; `go -C lab test ./soak` is the
// small size, `make soak SUITE=service` the one that is published.
package soak
