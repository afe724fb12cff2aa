package cli

import (
	"context"
	"path/filepath"
	"slices"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/wire"
)

// MayChange refuses a process if a running monitor finds that an agent started it. Without a
// monitor only file permissions protect the owner's files, as they do against code that writes them
// itself. If a variable or flag names another monitor but the owner's own files, this does not
// help: the owner's usual sockets are asked, too.
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

// mayAt asks the monitor at one socket. If a monitor is there and does not answer, mayAt refuses:
// an agent may have stopped it so that it cannot refuse.
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
