package rulesdesk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/story/recorded"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// StoryOf implements [httpapi.RulesPage].
func (d *Desk) StoryOf(ctx context.Context, who httpapi.Identity, r *wire.StoryOfRequest) (*wire.StoryOfResponse, error) {
	name, number, one := cutLast(r.GetOf())
	if name == "" || len(name) > journal.MaxSessionBytes {
		return nil, fmt.Errorf("%w: write SESSION, or SESSION#7 for what happened until one decision", httpapi.ErrInvalid)
	}
	s, err := past.Read(ctx, d.opts.Journal, journal.Session{Tenant: who.Tenant, ID: floodmark.SessionID(name)})
	if errors.Is(err, past.ErrTooLong) {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if err != nil {
		return nil, err
	}
	facts := s.Facts
	if len(facts) == 0 {
		return nil, fmt.Errorf("%w: there is no session %q, or it was erased", httpapi.ErrNotFound, floodmark.OneLine(name, maxName))
	}
	if one {
		if number < s.First || number-s.First >= uint64(len(facts)) {
			return nil, fmt.Errorf("%w: session %s has no entry %d", httpapi.ErrNotFound, floodmark.OneLine(name, maxName), number)
		}
		facts = facts[:number-s.First+1]
	}
	shipped, err := d.opts.Shipped()
	if err != nil {
		return nil, err
	}
	text := ""
	if who.Tenant == "" { // other tenants do not see the operator's policy
		text = string(d.opts.Rules("").Text)
	}
	got := recorded.Tell(name, facts, text, shipped)
	out := &wire.StoryOfResponse{Name: fileName(name), Text: strings.ToValidUTF8(got.Text, "\uFFFD"), Plays: got.Plays}
	for _, n := range got.Notes {
		out.Notes = append(out.Notes, past.Foreign(n))
	}
	if who.Tenant != "" {
		out.Notes = append(out.Notes, "the rules of your sessions are not in the story; it uses the shipped profile")
	}
	if s.Erased != nil {
		out.Notes = append(out.Notes, "the beginning of the session was erased")
	}
	return out, nil
}

// cutLast splits SESSION#7. The name of a session may contain a #.
func cutLast(of string) (name string, number uint64, one bool) {
	if i := strings.LastIndexByte(of, '#'); i > 0 {
		if n, err := strconv.ParseUint(of[i+1:], 10, 64); err == nil {
			return of[:i], n, true
		}
	}
	return of, 0, false
}

// fileName returns a name for the file of a story, made from the name of a session.
func fileName(session string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, session)
	const most = 40
	return cmp.Or(strings.Trim(plain[:min(most, len(plain))], "-"), "story") + ".txtar"
}
