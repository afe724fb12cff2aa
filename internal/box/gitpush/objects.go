package gitpush

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the names of git's objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/internal/box/pushreview"
)

// objects reads objects of a project through git. It refuses an object whose content does not hash
// to its id.
type objects struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (c *Copy) open(ctx context.Context, folder string) (*objects, error) {
	o := &objects{cmd: exec.CommandContext(ctx, c.cfg.Git, append(strict(), "cat-file", "--batch")...)}
	o.cmd.Dir, o.cmd.Env = c.dir, c.local(folder)
	in, err := o.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.in, o.out = in, bufio.NewReaderSize(out, 1<<16)
	return o, o.cmd.Start()
}

func (o *objects) close() error {
	_ = o.in.Close() // this ends git
	_, _ = io.Copy(io.Discard, o.out)
	return o.cmd.Wait()
}

// Read implements [pushreview.Objects].
func (o *objects) Read(id string) (pushreview.Object, error) {
	wrong := fmt.Errorf("%w: object %.12s cannot be read", pushreview.ErrMalformed, id)
	if !pushreview.IsID(id) {
		return pushreview.Object{}, wrong
	}
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return pushreview.Object{}, wrong
	}
	head, err := o.out.ReadString('\n')
	parts := strings.Fields(head)
	if err != nil || len(parts) != 3 || parts[0] != id {
		return pushreview.Object{}, wrong
	}
	size, err := strconv.ParseInt(parts[2], 10, 62)
	if err != nil {
		return pushreview.Object{}, wrong
	}
	sum := sha1.New() //nolint:gosec // as git does; copying detects collisions
	if len(id) == 64 {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", parts[1], size)
	obj := pushreview.Object{Kind: parts[1], Size: size}
	body := io.TeeReader(io.LimitReader(o.out, size), sum)
	if size <= pushreview.MaxBody {
		obj.Body, err = io.ReadAll(body)
	} else {
		_, err = io.Copy(io.Discard, body)
	}
	end, more := o.out.ReadByte()
	if err != nil || more != nil || end != '\n' || hex.EncodeToString(sum.Sum(nil)) != id {
		return pushreview.Object{}, wrong
	}
	return obj, nil
}
