//go:build !linux

package boxticket

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// errSystem means that there are no boxes on this system, and so no tickets.
var errSystem = errors.New("boxes are made of what only Linux has")

// errTaken means that there is nothing to take.
var errTaken = errors.New("there is no such ticket, or it was used before: make the call again")

type folder struct{}

func makeFolder(string, int) (*folder, error) { return nil, errSystem }
func openFolder(string, int) (*folder, error) { return nil, errSystem }

func (f *folder) close()                                                {}
func (f *folder) put(string, []byte) error                              { return errSystem }
func (f *folder) get(string, int64) ([]byte, error)                     { return nil, errSystem }
func (f *folder) locked(string) bool                                    { return false }
func (f *folder) wait(string) error                                     { return errSystem }
func (f *folder) claim(string) (bool, error)                            { return false, errSystem }
func (f *folder) hold(string) (io.Closer, bool)                         { return nil, false }
func (f *folder) lock(string) (io.Closer, error)                        { return nil, errSystem }
func (f *folder) exists(string) bool                                    { return false }
func (f *folder) remove(string) error                                   { return errSystem }
func (f *folder) removeTree(string) error                               { return errSystem }
func (f *folder) keep(string, time.Time) error                          { return errSystem }
func (f *folder) list() ([]fs.FileInfo, error)                          { return nil, errSystem }
func (f *folder) take(string, string, int64) ([]byte, io.Closer, error) { return nil, nil, errSystem }
