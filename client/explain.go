package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"unicode"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/hook"
)

// Explain returns what an error means and what to do about it, in a line for people. A message of
// the daemon is repeated, because it was written for people.
func Explain(err error) string {
	var said *connect.Error
	var certificate *tls.CertificateVerificationError
	var network net.Error
	isSaid := errors.As(err, &said)
	switch {
	case err == nil:
		return ""
	case isSaid && connect.IsWireError(err) && said.Message() != "":
		return sentence(said.Message())
	case errors.Is(err, hook.ErrTooLarge):
		return sentence(err.Error()) + " Split the content."
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return "The daemon is not running. Start it with «floodmark serve»."
	case errors.Is(err, fs.ErrPermission):
		return "The daemon's socket does not let this user in. Look at «floodmark doctor»."
	case errors.As(err, &certificate):
		return "The daemon's certificate is not signed by an authority this client believes. Give it the right one."
	case errors.Is(err, context.Canceled):
		return "The call was given up before the daemon answered. Repeat it."
	case errors.Is(err, context.DeadlineExceeded), isSaid && said.Code() == connect.CodeDeadlineExceeded, errors.As(err, &network) && network.Timeout():
		return "The daemon did not answer in time. Look at «floodmark status»."
	case isSaid:
		return "The daemon could not be asked (" + said.Code().String() + "). Look at «floodmark doctor»."
	}
	return sentence(err.Error())
}

// sentence returns s as one line of limited length that ends with a full stop.
func sentence(s string) string {
	const most = 300
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}
