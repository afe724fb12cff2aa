package main

import (
	"context"
	"errors"
	"os"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// floorBytes is what an event takes on disk at least: SQLite's log was seen to grow
// by three to four pages of 4 KiB, each with a head of 24 bytes. This is three.
const floorBytes = 3 * (4096 + 24)

// floor is the proxy that decides nothing and records everything: as many bytes
// as a decision writes are on the disk before a call, or an answer, goes on. Who
// judges besides cannot be quicker.
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
