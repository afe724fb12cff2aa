// Package wire holds the messages of the hook API, as written from the
// description in api/, together with the way between them and the words of
// package hook. It listens nowhere and calls nobody.
package wire

//go:generate go -C ../tools/proto run .
