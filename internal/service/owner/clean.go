package owner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/project/clean"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Cleaning lets the owner manage what sessions left on the disk, if agents run on this machine.
func (d *Desk) Cleaning(here bool) *Desk {
	if here {
		d.cleaner = &clean.Cleaner{Monitor: d.Monitor, Journal: d.Journal, Now: d.Now}
	}
	return d
}

// cleanerFor returns the cleaner if the caller is a person at a terminal of this machine. Other
// callers must not see the files, and a script would approve anything.
func (d *Desk) cleanerFor(ctx context.Context, who httpapi.Identity) (*clean.Cleaner, error) {
	switch {
	case !httpapi.Present(ctx, who):
		return nil, fmt.Errorf("%w: only a person at a terminal can do this; a script cannot speak for files", httpapi.ErrInvalid)
	case d.cleaner == nil:
		return nil, fmt.Errorf("%w: this monitor looks at no disk of agents", httpapi.ErrInvalid)
	}
	return d.cleaner, nil
}

// cleaned returns an error of the cleaner in the form for callers.
func cleaned(err error) error {
	if errors.Is(err, clean.ErrFolder) || errors.Is(err, clean.ErrList) {
		return fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	return err
}

// Leftovers implements [httpapi.Owner].
func (d *Desk) Leftovers(ctx context.Context, who httpapi.Identity, r *wire.LeftoversRequest) (*wire.LeftoversResponse, error) {
	c, err := d.cleanerFor(ctx, who)
	if err != nil {
		return nil, err
	}
	var l *clean.List
	var files []clean.Shown
	if r.GetContents() {
		l, files, err = c.Show(ctx, who.Tenant, r.GetFolder(), r.GetPaths())
	} else {
		l, err = c.List(ctx, who.Tenant, r.GetFolder())
	}
	if err != nil {
		return nil, cleaned(err)
	}
	out := &wire.LeftoversResponse{List: l.Token, Folder: l.Root, Stays: staying(l.Stays), More: int64(l.More)}
	for _, it := range l.Items {
		out.Items = append(out.Items, &wire.Leftover{
			Path: it.Path, Folder: it.Folder, Files: int64(len(it.Files)), Bytes: it.Bytes, Linked: int64(it.Linked),
			Session: string(it.Session), Source: it.Source,
		})
	}
	for _, f := range files {
		out.Files = append(out.Files, &wire.ShownFile{
			Path: f.Path, Old: f.Old, Commit: f.Commit, New: f.New, Digest: f.Digest.String(), Session: string(f.Session), Source: f.Source,
		})
	}
	return out, nil
}

func staying(list []clean.Stay) []*wire.Staying {
	out := make([]*wire.Staying, len(list))
	for i, s := range list {
		out[i] = &wire.Staying{Path: s.Path, Why: s.Why}
	}
	return out
}

// Clean implements [httpapi.Owner].
func (d *Desk) Clean(ctx context.Context, who httpapi.Identity, r *wire.CleanRequest) (*wire.CleanResponse, error) {
	c, err := d.cleanerFor(ctx, who)
	if err != nil {
		return nil, err
	}
	var items []int
	for _, i := range r.GetItems() {
		items = append(items, int(i))
	}
	p, err := c.Remove(ctx, who.Tenant, r.GetList(), slices.Clip(items), who.Name)
	if err != nil {
		return nil, cleaned(err)
	}
	return &wire.CleanResponse{Removed: int64(p.Removed), Left: int64(p.Left), Stays: staying(p.Stays), More: int64(p.More)}, nil
}

// endorseFiles endorses files that were shown.
func (d *Desk) endorseFiles(ctx context.Context, who httpapi.Identity, list string) (*wire.EndorseResponse, error) {
	c, err := d.cleanerFor(ctx, who)
	if err != nil {
		return nil, err
	}
	files, err := c.Endorse(ctx, who.Tenant, list, who.Name)
	if err != nil {
		return nil, cleaned(err)
	}
	out := &wire.EndorseResponse{Done: true}
	for _, f := range files {
		out.Notice += fmt.Sprintf("Endorsed: %s (take it back with «floodmark trust --withdraw %s %s»).\n", floodmark.Visible(f.Path), monitor.Files, f.Digest.String()[:12])
	}
	return out, nil
}

// withdrawFile withdraws the endorsement of a file.
func (d *Desk) withdrawFile(ctx context.Context, who httpapi.Identity, digest string) (*wire.WithdrawResponse, error) {
	c, err := d.cleanerFor(ctx, who)
	if err != nil {
		return nil, err
	}
	cmd, err := approval.ParseCommand(string(approval.Withdraw) + " " + digest)
	if err != nil {
		return nil, fmt.Errorf("%w: digest: give at least its first %d digits", httpapi.ErrInvalid, approval.MinDigestDigits)
	}
	if err := c.Withdraw(ctx, who.Tenant, cmd.Digest, who.Name); err != nil {
		return nil, cleaned(err)
	}
	return &wire.WithdrawResponse{Done: true, Notice: "Withdrawn: " + cmd.Digest + "."}, nil
}
