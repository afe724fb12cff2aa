package owner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// Undo implements [httpapi.Owner]. Only the owner may use it, because it changes the owner's files,
// and they may want to keep the new content.
func (d *Desk) Undo(ctx context.Context, who httpapi.Identity, r *wire.UndoRequest) (*wire.UndoResponse, error) {
	gives := r.GetSession() != "" && !r.GetDryRun()
	if gives && !httpapi.Present(ctx, who) {
		return nil, fmt.Errorf("%w: only a person at a terminal can do this; a script cannot change your files", httpapi.ErrInvalid)
	}
	if who.Channel != httpapi.OwnerSocket && !httpapi.Present(ctx, who) || d.Kept == nil {
		return nil, fmt.Errorf("%w: nothing is kept here: ask the monitor of your own that runs boxes", httpapi.ErrInvalid)
	}
	out := &wire.UndoResponse{Done: true}
	list, err := named(d.Kept.List(who.Tenant), r.GetSession(), r.GetCall())
	if err != nil {
		return nil, err
	}
	gone := map[*wire.Undone][]string{}
	for _, a := range list {
		u := &wire.Undone{
			Session: a.Session, Call: a.Call, Command: a.Command, Project: a.Project, Time: timestamppb.New(a.At),
			Files: int32(min(a.Files, maxListed)), Unkept: a.Unkept,
		}
		out.Calls = append(out.Calls, u)
		if r.GetSession() == "" || a.Unkept != "" && r.GetCall() == "" {
			continue
		}
		if gone[u], err = d.giveBack(ctx, who, a, u, r); err != nil {
			return nil, err
		}
		if out.Done = u.GetDone() || r.GetDryRun() && (len(u.GetRefused()) == 0 || r.GetOnly() || r.GetBeside()); !out.GetDone() {
			break // the older content can only be restored after this
		}
	}
	out.Lines = undoLines(out, r, gone)
	return out, nil
}

// named returns the calls of a session, or one of them. Both names may be shortened, as for
// [meant].
func named(all []undo.About, session, call string) ([]undo.About, error) {
	for _, by := range []struct {
		word, what string
		of         func(undo.About) string
	}{
		{session, "session", func(a undo.About) string { return a.Session }},
		{call, "call", func(a undo.About) string { return a.Call }},
	} {
		if by.word == "" {
			continue
		}
		m := meant{word: by.word, what: by.what}
		for _, a := range all {
			m.hear(by.of(a))
		}
		name, err := m.one("it changed nothing, is undone, or is older than a week: «floodmark undo» lists what there is")
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(slices.Clone(all), func(a undo.About) bool { return by.of(a) != name })
	}
	return all, nil
}

const maxWord = 80 // letters of a name that is shown

// maxListed bounds the paths listed for one call.
const maxListed = 10_000

// giveBack restores what one call replaced, and returns the paths that it removes. It records the
// intent first. If the monitor is killed meanwhile, the next start finishes the work.
func (d *Desk) giveBack(ctx context.Context, who httpapi.Identity, a undo.About, u *wire.Undone, r *wire.UndoRequest) ([]string, error) {
	how := undo.How{Dry: true, Only: r.GetOnly(), Beside: r.GetBeside()}
	did, err := d.Kept.Back(a.ID, how)
	if err == nil && !r.GetDryRun() && len(did.Given)+len(did.Returns) > 0 && (len(did.Refused) == 0 || how.Only || how.Beside) {
		s := journal.Session{Tenant: a.Tenant, ID: floodmark.SessionID(a.Session)}
		seen := floodmark.IncidentSeen{Kind: Undo, Call: floodmark.CallID(a.Call)}
		seen.Text = fmt.Sprintf("%s of %s are given back as they were before the call, by %s: %s", changedFiles(len(did.Given)), a.Project, byOf(who), some(did.Given))
		if how.Beside && len(did.Refused) > 0 {
			seen.Text += fmt.Sprintf("; what was there of %s is put beside", changedFiles(len(did.Refused)))
		}
		if err := d.Monitor.Note(context.WithoutCancel(ctx), s, seen); err != nil {
			return nil, err
		}
		planned := did.Returns
		if err := d.resay(ctx, a, byOf(who), planned); err != nil {
			return nil, err
		}
		how.Dry = false
		did, err = d.Kept.Back(a.ID, how)
		if err == nil && did.Done && !slices.Equal(planned, did.Returns) { // another request has changed what comes back
			err = d.resay(ctx, a, byOf(who), did.Returns)
		}
		if err == nil && did.Done {
			err = d.unsay(ctx, s, a, did)
		}
	}
	if errors.Is(err, undo.ErrGone) {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrNotFound, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", httpapi.ErrInvalid, floodmark.OneLine(err.Error(), maxUndoWhy))
	}
	for _, p := range did.Given[:min(len(did.Given), maxListed)] {
		u.Given = append(u.Given, strings.ToValidUTF8(p, "?"))
	}
	for _, f := range did.Refused[:min(len(did.Refused), maxListed)] {
		u.Refused = append(u.Refused, &wire.UndoRefused{Path: strings.ToValidUTF8(f.Path, "?"), Why: f.Why})
	}
	for _, b := range did.Returns {
		if b.Was != b.At && len(u.GetBeside()) < maxListed {
			u.Beside = append(u.Beside, strings.ToValidUTF8(b.At, "?"))
		}
	}
	u.Done = did.Done
	return did.Gone, nil
}

// unsay removes the labels that the call gave to files that are now as they were before. Until then
// the files keep these labels.
func (d *Desk) unsay(ctx context.Context, s journal.Session, a undo.About, did undo.Result) error {
	gone, err := d.unsaid(ctx, s, a, did)
	if err != nil || len(gone) == 0 {
		return err
	}
	seen := floodmark.IncidentSeen{Kind: Undo, Call: floodmark.CallID(a.Call)}
	seen.Text = fmt.Sprintf("%s of %s have the labels that they had before the call", changedFiles(len(gone)), a.Project)
	return d.Monitor.Note(context.WithoutCancel(ctx), s, seen, gone...)
}

// Undo is the kind of incident that records that the owner had a call undone.
const Undo = meaning.Undone

const maxUndoWhy = 500 // bytes of an error that is shown

// some lists the first few paths.
func some(paths []string) string {
	const few = 5
	text := fmt.Sprintf("%q", paths[:min(len(paths), few)])
	if len(paths) > few {
		text += fmt.Sprintf(" and %d more", len(paths)-few)
	}
	return text
}

// backText lists the paths whose old content is restored, and the paths that are removed because
// they did not exist before the call.
func backText(given, gone []string, restored, removed string) string {
	without := map[string]bool{}
	for _, path := range gone {
		without[path] = true
	}
	back := slices.DeleteFunc(slices.Clone(given), func(path string) bool { return without[path] })
	var parts []string
	if len(back) > 0 || len(gone) == 0 {
		parts = append(parts, restored+" "+some(back))
	}
	if len(gone) > 0 {
		parts = append(parts, removed+" "+some(gone))
	}
	return strings.Join(parts, "; ")
}

// undoLines returns the text for a person.
func undoLines(out *wire.UndoResponse, r *wire.UndoRequest, gone map[*wire.Undone][]string) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if len(out.GetCalls()) == 0 {
		say("nothing is kept that could be undone")
	}
	for _, u := range out.GetCalls() {
		say("%s  %s %s: %s in %s", u.GetTime().AsTime().Local().Format("2006-01-02 15:04"), u.GetSession(), u.GetCall(), changedFiles(int(u.GetFiles())), u.GetProject())
		say("  %s", u.GetCommand())
		if u.GetUnkept() != "" {
			say("  cannot be undone: %s", u.GetUnkept())
		}
		for _, f := range u.GetRefused() {
			say("  changed since: %q: %s", f.GetPath(), f.GetWhy())
		}
		switch {
		case u.GetDone() && len(u.GetBeside()) > 0:
			say("  %s; beside what was changed since: %s", backText(u.GetGiven(), gone[u], "restored:", "removed:"), some(u.GetBeside()))
		case u.GetDone():
			say("  %s", backText(u.GetGiven(), gone[u], "restored:", "removed:"))
		case len(u.GetRefused()) > 0 && !r.GetOnly() && !r.GetBeside():
			say("  nothing was touched; --only gives back the others, --beside also puts what was there before beside it")
		case r.GetSession() != "" && r.GetDryRun():
			say("  %s", backText(u.GetGiven(), gone[u], "would be restored:", "would be removed:"))
		}
	}
	return lines
}

func changedFiles(n int) string {
	if n == 1 {
		return "1 changed path"
	}
	return fmt.Sprintf("%d changed paths", n)
}
