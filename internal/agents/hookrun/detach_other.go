//go:build !unix

package hookrun

import "errors"

func detach(string, []string) error { return errors.New("not possible on this system") }
