package cli

import (
	"context"
	"path/filepath"
	"slices"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/wire"
)

// MayChange refuses a process that a running monitor takes for an agent's. Without a monitor, and
// for code that writes the file by itself, only the file's permissions count. A variable or flag
// that leads to the owner's own files and away from the monitor does not help: the owner's usual
// sockets are asked too.
func (c *Console) MayChange(ctx context.Context, p Place) error {
	paths, err := c.Paths(p)
	if err != nil {
		return err
	}
	sockets := []string{paths.OwnerSocket}
	if Below(filepath.Dir(paths.Fleets), c.Home) {
		sockets = append(sockets, c.Usual...)
	}
	slices.Sort(sockets)
	for _, socket := range slices.Compact(sockets) {
		if err := c.mayAt(ctx, p, socket); err != nil {
			return err
		}
	}
	return nil
}

// Below reports whether a folder is below another, after following links.
func Below(dir, top string) bool {
	for _, path := range []*string{&dir, &top} {
		if found, err := filepath.EvalSymlinks(*path); err == nil {
			*path = found
		}
	}
	rel, err := filepath.Rel(top, dir)
	return top != "" && err == nil && filepath.IsLocal(rel)
}

// mayAt asks the monitor at one socket. One that is there and does not answer may have been stopped
// so that it cannot refuse.
func (c *Console) mayAt(ctx context.Context, p Place, socket string) error {
	way, err := client.Dial(socket, client.Options{})
	if err != nil {
		return Refuse("", "%s", err)
	}
	defer way.Close()
	p.Fleet = ""
	d := &Desk{OwnerServiceClient: way.Owner(), Place: p, Socket: socket, End: way.Close}
	within, cancel := context.WithTimeout(ctx, AnswerTime)
	defer cancel()
	_, err = d.Status(within, &wire.StatusRequest{})
	switch connect.CodeOf(err) {
	case connect.CodePermissionDenied:
		return d.Unanswered(err)
	case connect.CodeDeadlineExceeded:
		return &Failure{Code: ExitNo, Text: "the monitor at " + socket + " does not answer, so it cannot tell whether an agent started this", Hint: "look with «floodmark status», then try again"}
	default:
		return nil
	}
}
