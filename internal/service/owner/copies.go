package owner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/wire"
)

// maxCopied bounds the bytes of laptops' facts that one request reads. A laptop may have sent more
// facts than an agent could have caused.
const maxCopied = 64 << 20

// explains selects decisions to explain, and sees is called with each entry; both may be nil.
type (
	explains func(uint64, floodmark.ActionDecided) bool
	sees     func(journal.Entry, floodmark.Fact)
)

// found is a session that an owner named, and the function that reads it.
type found struct {
	journal.Session
	tell func(explains, sees) (*tale, error)
}

// find finds the session that an owner names: the copy of a laptop's session if there is one, or
// else a session of this monitor. The two kinds of names cannot be confused.
func (d *Desk) find(ctx context.Context, who httpapi.Identity, name string) (found, error) {
	c, err := d.copyNamed(ctx, who, name)
	switch {
	case err == nil:
		left := maxCopied
		return found{c.name(), func(e explains, s sees) (*tale, error) { return d.tellCopy(ctx, c, &left, e, s) }}, nil
	case !errors.Is(err, httpapi.ErrNotFound):
		return found{}, err
	}
	s, err := d.named(ctx, who.Tenant, name)
	return found{s, func(e explains, see sees) (*tale, error) { return d.tell(ctx, s, e, see) }}, err
}

// A copied is the copy of one session on a laptop.
type copied struct {
	of machines.Machine
	machines.Copy
}

// name returns the name that the fleet's people use.
func (c copied) name() journal.Session {
	return journal.Session{Tenant: c.of.Tenant, ID: floodmark.SessionID(LaptopSession(string(c.of.ID), string(c.Session)))}
}

// copyNamed finds a copy by the name of its session, or by a beginning of the name that only one
// copy has. It does not find copies of other tenants.
func (d *Desk) copyNamed(ctx context.Context, who httpapi.Identity, name string) (copied, error) {
	missing := fmt.Errorf("%w: there is no copy %q", httpapi.ErrNotFound, name)
	rest, is := strings.CutPrefix(name, laptopPrefix)
	id, session, whole := strings.Cut(rest, "/")
	if d.Mirror == nil || !is || !whole || session == "" {
		return copied{}, missing
	}
	m, err := d.machine(ctx, who, id)
	if err != nil {
		return copied{}, err
	}
	list, err := d.Mirror.Copies(ctx, who.Tenant, m.ID, maxCounted)
	if err != nil {
		return copied{}, err
	}
	var like []copied
	for _, c := range list {
		if string(c.Session) == session {
			return copied{m, c}, nil
		}
		if strings.HasPrefix(string(c.Session), session) {
			like = append(like, copied{m, c})
		}
	}
	switch len(like) {
	case 0:
		return copied{}, missing
	case 1:
		return like[0], nil
	}
	return copied{}, fmt.Errorf("%w: %d sessions of that laptop begin with %q; write more of the name", httpapi.ErrInvalid, len(like), session)
}

// machine finds a laptop of the caller's tenant by its id.
func (d *Desk) machine(ctx context.Context, who httpapi.Identity, id string) (machines.Machine, error) {
	m, _, err := d.Mirror.Find(ctx, machines.ID(id))
	if errors.Is(err, machines.ErrUnknown) || err == nil && m.Tenant != who.Tenant {
		return machines.Machine{}, fmt.Errorf("%w: there is no laptop %q; «floodmark fleet machines --all» lists them", httpapi.ErrNotFound, id)
	}
	return m, err
}

// machineNamed finds a laptop by its id, or by its name if that is unique.
func (d *Desk) machineNamed(ctx context.Context, who httpapi.Identity, word string) (machines.Machine, error) {
	m, missing := d.machine(ctx, who, word)
	if !errors.Is(missing, httpapi.ErrNotFound) {
		return m, missing
	}
	n := 0
	for one, err := range machines.Each(ctx, d.Mirror, who.Tenant) {
		if err != nil {
			return machines.Machine{}, err
		}
		if one.Name == word {
			m, n = one.Machine, n+1
		}
	}
	switch n {
	case 0:
		return machines.Machine{}, missing
	case 1:
		return m, nil
	}
	return machines.Machine{}, fmt.Errorf("%w: %d laptops are called %q; say the id of one; «floodmark fleet machines --all» lists them", httpapi.ErrInvalid, n, word)
}

// copies lists the copies of one laptop's sessions. A copy that cannot be read is in the list with
// the reason.
func (d *Desk) copies(ctx context.Context, who httpapi.Identity, r *wire.SessionsRequest, limit int) (*wire.SessionsResponse, error) {
	if d.Mirror == nil {
		return nil, fmt.Errorf("%w: no laptop can join this monitor", httpapi.ErrInvalid)
	}
	m, err := d.machineNamed(ctx, who, r.GetMachine())
	if err != nil {
		return nil, err
	}
	list, err := d.Mirror.Copies(ctx, who.Tenant, m.ID, maxCounted)
	if err != nil {
		return nil, err
	}
	out, left := &wire.SessionsResponse{}, maxCopied
	for _, c := range list {
		one, err := d.copySummary(ctx, copied{m, c}, &left)
		if err != nil {
			return nil, err
		}
		if r.GetAgent() != "" && !floodmark.IsOf(one.GetAgent(), r.GetAgent()) || r.GetOpen() && one.GetClosed() {
			continue
		}
		if len(out.Sessions) == limit {
			out.More = true
			break
		}
		out.Sessions = append(out.Sessions, one)
	}
	return out, nil
}

func (d *Desk) copySummary(ctx context.Context, c copied, left *int) (*wire.Session, error) {
	t, err := d.tellCopy(ctx, c, left, nil, nil)
	switch {
	case err == nil:
		return t.summary(d.Now()), nil
	case errors.Is(err, httpapi.ErrInvalid): // the copy is too large
		return &wire.Session{
			Id: printedID(c.name()), Facts: c.Head.Seq, Written: timestamppb.New(c.At), Opened: timestamppb.New(c.At),
			Mark: wire.FromLabel(floodmark.Label{}), Problem: "not read: these copies are too large to be looked at together",
		}, nil
	}
	return nil, err
}

// printedID returns a session's name as valid UTF-8, because a laptop may have sent any bytes.
func printedID(s journal.Session) string { return strings.ToValidUTF8(string(s.ID), "\uFFFD") }

// tellCopy reads a copy from its beginning and checks that its chain leads to its head. If the copy
// was changed, or contains facts that this program does not know, the tale ends there and says what
// is wrong.
func (d *Desk) tellCopy(ctx context.Context, c copied, left *int, explain explains, see sees) (*tale, error) {
	keys, err := machines.KeyOf(c.of.JournalKey)
	if err != nil {
		keys = note.VerifierList() // without a key, no tombstone is accepted
	}
	tooLarge := fmt.Errorf("%w: the copy of session %q is too large to be shown", httpapi.ErrInvalid, printedID(c.name()))
	if *left < 0 { // earlier copies used up the limit
		return nil, tooLarge
	}
	r := &copyReader{copied: c, keys: keys, nodes: d.Key.Verifiers(), t: &tale{session: c.name(), state: kernel.NewState()}}
	var all []journal.Entry
	for e, err := range d.Mirror.Read(ctx, c.of.Tenant, c.of.ID, c.Session) {
		if err != nil {
			return nil, err
		}
		if *left -= len(e.Body); *left < 0 || len(all) >= maxTold {
			return nil, tooLarge
		}
		all = append(all, e)
		if _, is := r.stone(e); is {
			r.hides = e.Seq
		}
	}
	for _, e := range all {
		if !r.take(e, explain, see) {
			break
		}
	}
	r.end()
	r.t.copy = &wire.MachineCopy{
		Machine: string(c.of.ID), Name: c.of.Name, Session: strings.ToValidUTF8(string(c.Session), "\uFFFD"),
		Entries: int64(len(all)), Seq: r.t.link.Seq, Hash: r.t.link.Hash.String(),
	}
	if !utf8.ValidString(string(c.Session)) {
		r.wrong("its name cannot be written")
	}
	return r.t, nil
}

// A copyReader builds a tale from a copy.
type copyReader struct {
	copied
	keys    note.Verifiers // the laptop's keys
	nodes   note.Verifiers // the keys of the fleet's nodes
	t       *tale
	hides   uint64 // the last tombstone; entries before it are checked, but not shown
	dumb    bool   // an entry was not understood; later ones are checked, but not shown
	reached bool   // the last entry that the laptop sent was found
}

// wrong records what is wrong, if nothing was recorded before.
func (r *copyReader) wrong(format string, args ...any) {
	if r.t.problem == "" {
		r.t.problem = fmt.Sprintf(format, args...)
	}
}

// take adds one entry to the tale. It returns false if the chain is broken there.
func (r *copyReader) take(e journal.Entry, explain explains, see sees) bool {
	stone, is := r.stone(e)
	switch {
	case is && e.Seq > r.t.link.Seq:
		r.t = &tale{session: r.t.session, link: stone.Link, state: kernel.Forgotten(stone.Mark), erased: &stone, written: time.Unix(0, stone.At), problem: r.t.problem}
		r.dumb = false
	case e.Kind == machines.StoneKind, e.Kind == machines.GoneKind:
		r.wrong("it was changed: the tombstone at entry %d is not signed by the eraser's key; what follows is not shown", e.Seq)
		return false
	case journal.Check(journal.Session{ID: r.Session}, r.t.link, e) != nil:
		r.wrong("it was changed: entry %d is not what the laptop wrote; what follows is not shown", r.t.link.Seq+1)
		return false
	case r.dumb || e.Seq < r.hides:
		r.t.link, r.t.written = e.Link(), e.Time()
	case r.t.take(e, explain, see) != nil:
		r.dumb = true
		r.wrong("entry %d, a fact of kind %s, cannot be told here, as if a newer version of Floodmark wrote it; what follows was checked and is not shown", e.Seq, safeKind(e.Kind))
		r.t.link = e.Link()
	}
	if e.Seq == r.Head.Seq {
		r.reached = e.Hash == r.Head.Hash
	}
	return true
}

// safeKind returns a kind of fact if it looks like one, or "unknown".
func safeKind(kind string) string {
	const most = 40
	if kind == "" || len(kind) > most || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return "unknown"
	}
	return kind
}

// stone returns the tombstone in an entry. It must be signed by the laptop if the laptop erased the
// session, or by a node if the copy was erased here.
func (r *copyReader) stone(e journal.Entry) (journal.Tombstone, bool) {
	keys, of := r.keys, journal.Session{ID: r.Session}
	switch e.Kind {
	case machines.StoneKind:
	case machines.GoneKind:
		keys, of = r.nodes, copyStone(r.of.Tenant, r.of.ID, r.Session)
	default:
		return journal.Tombstone{}, false
	}
	stone, err := journal.OpenTombstone(keys, e.Body)
	return stone, err == nil && stone.Session == of && stone.Link == e.Link()
}

// end records an error if the copy does not reach its head.
func (r *copyReader) end() {
	if !r.reached {
		r.wrong("it was changed: it does not lead to the entry %d that the laptop sent last", r.Head.Seq)
	}
}
