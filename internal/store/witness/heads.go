package witness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/journal"
)

// maxLine bounds a line of heads: the longest names in hex, with two numbers
// and a hash.
const maxLine = 2*(journal.MaxSessionBytes+journal.MaxTenantBytes) + 128

// Append implements [journal.HeadLog].
func (f *Folder) Append(_ context.Context, leaves []string) error {
	switch {
	case f.lock == nil:
		return ErrReadOnly
	case !f.trimmed:
		return errors.New("witness: nobody has said yet which heads were signed")
	}
	var b []byte
	for i, leaf := range leaves {
		if strings.ContainsRune(leaf, '\n') || len(leaf) > maxLine-22 {
			return errors.New("witness: a head is one short line")
		}
		b = strconv.AppendInt(b, f.size+int64(i), 10)
		b = append(b, ' ')
		b = append(b, leaf...)
		b = append(b, '\n')
	}
	f.trimmed = false // until the write has succeeded
	if _, err := f.heads.WriteAt(b, f.end); err != nil {
		return err
	}
	if err := f.heads.Sync(); err != nil {
		return err
	}
	f.size += int64(len(leaves))
	f.end += int64(len(b))
	f.trimmed = true
	return nil
}

// Trim implements [journal.HeadLog].
func (f *Folder) Trim(_ context.Context, size int64) error {
	if f.lock == nil {
		return ErrReadOnly
	}
	f.trimmed = false
	info, err := f.heads.Stat()
	if err != nil {
		return err
	}
	end, err := f.find(size)
	if err != nil {
		return err
	}
	if end < info.Size() {
		if err := f.heads.Truncate(end); err != nil {
			return err
		}
	}
	f.trimmed, f.size, f.end = true, size, end
	return nil
}

// Leaves implements [journal.HeadLog]. It stops at an incomplete line, which is being written or
// was cut off by a power loss.
func (f *Folder) Leaves(ctx context.Context, from int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		start, err := f.find(from)
		if err != nil {
			yield("", err)
			return
		}
		in := bufio.NewReaderSize(io.NewSectionReader(f.heads, start, 1<<62), 64<<10)
		for number := from; ; number++ {
			if number%1024 == 0 && ctx.Err() != nil {
				yield("", ctx.Err())
				return
			}
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				yield("", fmt.Errorf("read head %d: %w", number, err))
				return
			}
			got, leaf, ok := parseLine(line)
			if !ok || got != number {
				// A damaged line yields another text than the signed one, so the root will not
				// match.
				leaf = "damaged: " + strconv.QuoteToASCII(string(line[:min(len(line), 80)]))
			}
			if !yield(leaf, nil) {
				return
			}
		}
	}
}

// find returns the offset at which head number n begins, or would begin if there are exactly n
// heads. It returns [journal.ErrLog] if there are fewer than n heads.
func (f *Folder) find(n int64) (int64, error) {
	if n == 0 {
		return 0, nil
	}
	info, err := f.heads.Stat()
	if err != nil {
		return 0, err
	}
	var failed error
	// p is the first offset such that the first line that begins at or after it is head n or later.
	p := sort.Search(int(info.Size()), func(p int) bool {
		number, _, err := f.lineAfter(int64(p))
		if err != nil && failed == nil {
			failed = err
		}
		return number < 0 || number >= n
	})
	if failed != nil {
		return 0, failed
	}
	_, start, err := f.lineAfter(int64(p))
	if err != nil {
		return 0, err
	}
	before := max(0, start-maxLine)
	b := make([]byte, start-before)
	if _, err := f.heads.ReadAt(b, before); err != nil {
		return 0, err
	}
	number, _, ok := parseLine(b[bytes.LastIndexByte(b[:max(0, len(b)-1)], '\n')+1:])
	if !ok || number != n-1 {
		return 0, fmt.Errorf("%w (head %d of those that were signed is not there)", journal.ErrLog, n)
	}
	return start, nil
}

// lineAfter returns the number and position of the first line that begins at p or later; the number
// is -1 if no complete line of ours begins there.
func (f *Folder) lineAfter(p int64) (number, start int64, err error) {
	from := max(0, p-1)
	b := make([]byte, 2*maxLine)
	n, err := f.heads.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return -1, 0, err
	}
	b, start = b[:n], from
	if p > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return -1, from + int64(n), nil
		}
		start += int64(i) + 1
		b = b[i+1:]
	}
	i := bytes.IndexByte(b, '\n')
	number, _, ok := parseLine(b[:i+1])
	if !ok {
		return -1, start, nil
	}
	return number, start, nil
}

// parseLine splits a complete line into its number and the head.
func parseLine(line []byte) (number int64, leaf string, ok bool) {
	text, whole := strings.CutSuffix(string(line), "\n")
	digits, leaf, found := strings.Cut(text, " ")
	number, err := strconv.ParseInt(digits, 10, 64)
	if !whole || !found || err != nil || number < 0 || strconv.FormatInt(number, 10) != digits {
		return 0, "", false
	}
	return number, leaf, true
}

// Notes implements [journal.HeadLog].
func (f *Folder) Notes(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(f.notes, 0, 1<<62), 64<<10)
		var one, last []byte
		for {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, io.EOF) {
				break // a note without its signature is being written
			}
			if err == nil || errors.Is(err, bufio.ErrBufferFull) {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(one) <= journal.MaxNoteBytes { // a note over the limit is yielded too long, so that the caller refuses it
				one = append(one, line...)
			}
			if !bytes.HasPrefix(line, []byte(signature[1:])) {
				continue
			}
			last, one = one, nil
			if !yield(last, nil) {
				return
			}
		}
		newest, err := readSmall(filepath.Join(f.dir, newestFile))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil || last == nil || !bytes.Equal(newest, last) {
			yield(newest, err)
		}
	}
}
