//go:build !linux

package clean

import (
	"context"
	"errors"
	"time"
)

var errSystem = errors.New("this works on Linux only")

type (
	ground   struct{}
	identity struct{}
)

func (identity) changed() time.Time { return time.Time{} }

func openGround(string) (*ground, error)           { return nil, errSystem }
func (*ground) close()                             {}
func (*ground) spellings(string) ([]string, error) { return nil, errSystem }
func (*ground) read(string) ([]byte, identity, error) {
	return nil, identity{}, errSystem
}
func (*ground) remove(File) error   { return errSystem }
func (*ground) removeFolder(string) {}
func (*ground) files(context.Context, string, func(File, uint64, int64) error, func(path, why string)) ([]string, error) {
	return nil, errSystem
}
