package main

import (
	"context"
	"errors"
	"os"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// floorBytes is the least that an event takes on disk: for each event SQLite's log was seen
// to grow by three or four pages of 4 KiB, each with a header of 24 bytes.
const floorBytes = 3 * (4096 + 24)

// floor runs a proxy that decides nothing and records every call and answer: it flushes as
// many bytes to the disk as a decision writes before it forwards the message. A gateway that
// also judges cannot be quicker.
func floor(ctx context.Context, command []string, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	row := make([]byte, floorBytes)
	return proxy(ctx, command, func(m jsonrpc.Message) error {
		if r, ok := m.(*jsonrpc.Request); ok && r.Method != "tools/call" {
			return nil
		}
		if _, err := f.Write(row); err != nil {
			return err
		}
		return f.Sync()
	})
}
