// Package wire holds the messages of the hook API, generated from the description in api/, and
// converts between them and the words of package hook. It opens no connection and no port.
package wire

//go:generate go -C ../tools/proto run .
