package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/journal"
)

// A raw appends batches to a file and flushes it, in groups as the journal does. It checks
// the expected last entry of every append, but it can read nothing again. No journal on this
// disk could be faster.
type raw struct {
	journal.Journal // nil, because only Append is called
	f               *os.File
	queue           chan rawRequest
	ended           chan struct{}
	heads           map[journal.Session]journal.Link
	syncs           atomic.Int64
}

type rawRequest struct {
	batch journal.Batch
	done  chan error
}

// rawBytes is the size of one event in the file: its number, hash, length and body.
const rawBytes = 8 + 32 + 4 + bareBytes

func rawKeeper(dir, name string) (keeper, error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return keeper{}, err
	}
	r := &raw{f: f, queue: make(chan rawRequest, 1024), ended: make(chan struct{}), heads: map[journal.Session]journal.Link{}}
	go r.run()
	return keeper{
		Journal: r,
		flushes: func(context.Context, bool) (int64, error) { return r.syncs.Load(), nil },
		rows: func(context.Context) (int64, error) {
			close(r.queue)
			<-r.ended
			info, err := r.f.Stat()
			if err != nil {
				return 0, err
			}
			return info.Size() / rawBytes, r.f.Close()
		},
	}, nil
}

// Append implements [journal.Journal].
func (r *raw) Append(_ context.Context, b journal.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	q := rawRequest{b, make(chan error, 1)}
	r.queue <- q
	return <-q.done
}

func (r *raw) run() {
	defer close(r.ended)
	var group []rawRequest
	var out []byte
	for first := range r.queue {
		group = append(group[:0], first)
		for n := len(r.queue); n > 0; n-- {
			group = append(group, <-r.queue)
		}
		out = out[:0]
		var err error
		for _, q := range group {
			rec := &q.batch.Records[0]
			if r.heads[rec.Session] != rec.After {
				err = fmt.Errorf("%w: the raw file is written in order", journal.ErrConflict)
			}
			r.heads[rec.Session] = rec.Last()
			for i := range rec.Entries {
				e := &rec.Entries[i]
				out = binary.BigEndian.AppendUint64(out, e.Seq)
				out = append(out, e.Hash[:]...)
				out = binary.BigEndian.AppendUint32(out, uint32(len(e.Body)))
				out = append(out, e.Body...)
			}
		}
		if err == nil {
			_, err = r.f.Write(out)
		}
		if err == nil {
			err = unix.Fdatasync(int(r.f.Fd()))
		}
		r.syncs.Add(1)
		for _, q := range group {
			q.done <- err
		}
		runtime.Gosched() // as the journal does
	}
}
