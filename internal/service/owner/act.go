package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/askedcall"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel/answer"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Pending implements [httpapi.Owner].
func (d *Desk) Pending(ctx context.Context, who httpapi.Identity, r *wire.PendingRequest) (*wire.PendingResponse, error) {
	out := &wire.PendingResponse{}
	var err error
	if out.Questions, err = d.askedByLaptops(ctx, who, r.GetSession()); err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.GetSession(), laptopPrefix) && len(out.Questions) > 0 {
		return out, nil
	}
	passed, err := d.each(ctx, who.Tenant, r.GetSession(), func(t *tale) { out.Questions = append(out.Questions, d.open(ctx, who, t)...) })
	if err != nil {
		return nil, err
	}
	out.Unread = passed.words()
	slices.SortStableFunc(out.Questions, func(a, b *wire.Question) int { return compareTimes(a.GetExpires(), b.GetExpires()) })
	return out, nil
}

// answers reports whether the caller may answer a question. Callers who may not answer it do not
// see it either.
func (d *Desk) answers(who httpapi.Identity, t *tale, o approval.Open) bool {
	return d.MayAnswer == nil || d.MayAnswer(who.Groups, t.session, t.state.Agent, o.Tools())
}

// open returns the open questions of a session that the caller may answer.
func (d *Desk) open(ctx context.Context, who httpapi.Identity, t *tale) []*wire.Question {
	var list []*wire.Question
	for _, o := range t.state.Book.Tickets {
		if o.Approved || !o.Expires.After(d.Now()) || !d.answers(who, t, o) {
			continue
		}
		q := &wire.Question{Ticket: string(o.ID), Session: string(t.session.ID), Agent: t.state.Agent, Expires: timestamppb.New(o.Expires)}
		if at, ok := t.asked.since[o.ID]; ok {
			q.Asked = timestamppb.New(at)
		}
		q.Two, q.ApprovedBy, q.Seen = o.Two(), o.First, o.Seen()
		q.Over = o.Turn > 0 && (o.Turn < t.state.Turn || !t.state.InTurn)
		if o.Held.After(d.Now()) {
			q.Held = timestamppb.New(o.Held)
		}
		for _, shown := range o.Shown {
			call := &wire.AskedCall{
				Action: wire.FromAction(floodmark.Action{Kind: floodmark.CallTool, Tool: shown.Tool, ArgsDigest: shown.ArgsDigest}),
				Line:   shown.Tool.String(), Pattern: shown.Pattern, Mark: wire.FromLabel(shown.Mark), Codes: askedcall.Codes(shown.Codes),
				Offers: askedcall.Offers(shown.Offers),
			}
			if !shown.Pick.IsZero() {
				call.Pick = &wire.Pick{Words: "say where it goes; the agent has to ask again to show it"}
			}
			if words, ok := t.asked.question(o.ID, shown); ok {
				words.Push, words.Remote = d.push(t.session, o, shown)
				askedcall.Fill(call, words, t.state.Ledger.Endorsements())
			}
			q.Calls = append(q.Calls, call)
		}
		if httpapi.Terminal(ctx, who) && d.Codes != nil {
			if code, ok := d.Codes.Code(t.session, o.ID); ok {
				q.Code = code
			}
		}
		list = append(list, q)
	}
	return list
}

// Answer implements [httpapi.Owner]. On a laptop, an approval needs the code that was shown at the
// terminal, which proves that a person typed it. A ticket or session is not enough.
func (d *Desk) Answer(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, error) {
	cmd := approval.Command{
		Code: strings.ToLower(strings.TrimSpace(r.GetCode())), Ticket: floodmark.TicketID(r.GetTicket()), Calls: int(r.GetCalls()),
		Tool: r.GetTool(), For: time.Duration(r.GetMinutes()) * time.Minute, By: who.Name, Channel: who.Channel,
		Offer: int(r.GetOffer()), Picked: r.GetPicked(), Seen: r.GetSeen(),
	}
	if cmd.Tool == "" {
		cmd.Tool = approval.All
	}
	switch r.GetVerb() {
	case "approve":
		cmd.Verb = approval.Approve
	case "deny":
		cmd.Verb = approval.Deny
	default:
		return nil, fmt.Errorf("%w: verb: want approve or deny", httpapi.ErrInvalid)
	}
	if cmd.For < 0 || cmd.For > approval.MaxFor {
		return nil, fmt.Errorf("%w: minutes: want 0 to %d", httpapi.ErrInvalid, int(approval.MaxFor.Minutes()))
	}
	if cmd.Offer < 0 || cmd.Offer > approval.MaxOffers || len(cmd.Picked) > approval.MaxCommandBytes {
		return nil, fmt.Errorf("%w: offer: want 0 to %d; picked: at most %d bytes", httpapi.ErrInvalid, approval.MaxOffers, approval.MaxCommandBytes)
	}
	named := r.GetSession()
	if named == "" && cmd.Code == "" {
		s, err := d.asks(ctx, who, cmd)
		if err != nil {
			return nil, err
		}
		named = string(s.ID)
	}
	if out, is, err := d.answerLaptop(ctx, who, r, named); is || err != nil {
		return out, err
	}
	s, err := d.asked(ctx, who, named, &cmd)
	if err != nil {
		return nil, err
	}
	did, err := d.Monitor.Answer(monitor.AsMember(ctx, who.Groups...), s, cmd)
	if err != nil {
		return nil, err
	}
	answered := slices.ContainsFunc(did.Facts, func(f floodmark.Fact) bool { _, ok := f.(floodmark.TicketAnswered); return ok })
	return &wire.AnswerResponse{Answered: answered, Notice: did.Notice}, nil
}

// asked returns the session of the question that is answered. If the request has a code, the code
// decides.
func (d *Desk) asked(ctx context.Context, who httpapi.Identity, session string, cmd *approval.Command) (journal.Session, error) {
	if cmd.Code != "" {
		cmd.Ticket = ""
		if s, _, ok := d.Codes.Named(cmd.Code); ok && s.Tenant == who.Tenant {
			return s, nil
		}
		if session == "" {
			d.guessed(ctx, who, *cmd)
			return journal.Session{}, fmt.Errorf("%w: no open question has that code; «floodmark approve» lists them", httpapi.ErrNotFound)
		}
		return d.named(ctx, who.Tenant, session)
	}
	if cmd.Verb == approval.Approve && who.Channel == httpapi.OwnerSocket {
		return journal.Session{}, fmt.Errorf("%w: approve by the code the question shows at your terminal: «floodmark approve»", httpapi.ErrInvalid)
	}
	return d.named(ctx, who.Tenant, session)
}

// maxGuessed bounds the sessions in which a wrong code is counted.
const maxGuessed = 64

// guessed counts an unknown code as a wrong one in every session that waits for an answer, because
// a code does not say which question it is for. A session voids its codes after too many wrong
// ones, and then checks no codes for a while, so few facts are written.
func (d *Desk) guessed(ctx context.Context, who httpapi.Identity, cmd approval.Command) {
	if len(cmd.Code) != approval.CodeLength {
		return
	}
	counted := map[journal.Session]bool{}
	for _, p := range d.Monitor.Pending(who.Tenant) {
		if counted[p.Session] || len(counted) >= maxGuessed {
			continue
		}
		counted[p.Session] = true
		_, _ = d.Monitor.Answer(ctx, p.Session, cmd) // on an error it is not counted there, but asked refuses it anyway
	}
}

// Endorse implements [httpapi.Owner].
func (d *Desk) Endorse(ctx context.Context, who httpapi.Identity, r *wire.EndorseRequest) (*wire.EndorseResponse, error) {
	if r.GetList() != "" {
		if r.GetDryRun() {
			return nil, fmt.Errorf("%w: dry_run: not for a list", httpapi.ErrInvalid)
		}
		return d.endorseFiles(ctx, who, r.GetList())
	}
	done, notice, mark, err := d.vouch(ctx, who, r, approval.Endorse)
	return &wire.EndorseResponse{Done: done, Notice: notice, Mark: mark}, err
}

// Withdraw implements [httpapi.Owner].
func (d *Desk) Withdraw(ctx context.Context, who httpapi.Identity, r *wire.WithdrawRequest) (*wire.WithdrawResponse, error) {
	if r.GetSession() == string(monitor.Files) {
		if r.GetDryRun() {
			return nil, fmt.Errorf("%w: dry_run: not for files", httpapi.ErrInvalid)
		}
		return d.withdrawFile(ctx, who, r.GetDigest())
	}
	done, notice, mark, err := d.vouch(ctx, who, r, approval.Withdraw)
	return &wire.WithdrawResponse{Done: done, Notice: notice, Mark: mark}, err
}

// A vouching names content of a session.
type vouching interface {
	GetSession() string
	GetDigest() string
	GetDryRun() bool
}

// vouch endorses content or withdraws that. With a dry run it only says what would become of the
// mark.
func (d *Desk) vouch(ctx context.Context, who httpapi.Identity, r vouching, verb approval.Verb) (done bool, notice string, _ *wire.Label, _ error) {
	if who.Channel == httpapi.OwnerSocket && !httpapi.Terminal(ctx, who) {
		return false, "", nil, fmt.Errorf("%w: only a person at a terminal can do this; a script cannot trust content", httpapi.ErrInvalid)
	}
	s, err := d.named(ctx, who.Tenant, r.GetSession())
	digest := r.GetDigest()
	if err == nil {
		digest, err = d.source(ctx, s, digest)
	}
	if err != nil {
		return false, "", nil, err
	}
	cmd, err := approval.ParseCommand(string(verb) + " " + digest)
	if err != nil {
		return false, "", nil, fmt.Errorf("%w: source: give its number, or at least the first %d digits of its digest; «floodmark journal show» lists them", httpapi.ErrInvalid, approval.MinDigestDigits)
	}
	if r.GetDryRun() {
		t, err := d.tell(ctx, s, nil, nil)
		if err != nil {
			return false, "", nil, err
		}
		done, notice = answer.Foresee(&t.state.Ledger, t.state.Offered, cmd)
		return done, notice, wire.FromLabel(t.state.Mark()), nil
	}
	cmd.By, cmd.Channel = who.Name, who.Channel
	did, err := d.Monitor.Answer(monitor.AsMember(ctx, who.Groups...), s, cmd)
	if err != nil {
		return false, "", nil, err
	}
	v, err := d.Monitor.View(ctx, s)
	if err != nil {
		return false, "", nil, err
	}
	done = slices.ContainsFunc(did.Facts, func(f floodmark.Fact) bool {
		_, endorsed := f.(floodmark.Endorsed)
		_, withdrawn := f.(floodmark.Withdrawn)
		return endorsed || withdrawn
	})
	return done, did.Notice, wire.FromLabel(v.State.Mark()), nil
}

// grantNamed returns the session and ticket of the approval that a request names. Without a
// session, the end of the ticket is enough, if exactly one approval in effect ends with it.
func (d *Desk) grantNamed(ctx context.Context, who httpapi.Identity, r *wire.EndGrantRequest) (s journal.Session, ticket string, err error) {
	session, ticket := r.GetSession(), r.GetTicket()
	if session == "" {
		all, err := d.Grants(ctx, who, &wire.GrantsRequest{})
		if session, ticket = wire.GrantNamed(all.GetGrants(), ticket); err != nil || ticket == "" {
			return s, "", cmp.Or(err, fmt.Errorf("%w: not exactly one approval that holds ends with that", httpapi.ErrNotFound))
		}
	}
	s, err = d.named(ctx, who.Tenant, session)
	return s, ticket, err
}

// EndGrant implements [httpapi.Owner].
func (d *Desk) EndGrant(ctx context.Context, who httpapi.Identity, r *wire.EndGrantRequest) (*wire.EndGrantResponse, error) {
	if name, ok := strings.CutPrefix(r.GetTicket(), standingName); ok {
		return &wire.EndGrantResponse{Notice: "It stands in your policy, so it ends there: take «" + name + "» out of standing, then «floodmark policy reload»."}, nil
	}
	s, ticket, err := d.grantNamed(ctx, who, r)
	if err != nil {
		return nil, err
	}
	did, err := d.Monitor.Answer(ctx, s, approval.Command{Verb: approval.Revoke, Ticket: floodmark.TicketID(ticket), By: who.Name, Channel: who.Channel})
	if err != nil {
		return nil, err
	}
	return &wire.EndGrantResponse{Done: len(did.Facts) > 0, Notice: did.Notice}, nil
}

// Forget implements [httpapi.Owner].
func (d *Desk) Forget(ctx context.Context, who httpapi.Identity, r *wire.ForgetRequest) (*wire.ForgetResponse, error) {
	if who.Channel == httpapi.OwnerSocket && !httpapi.Terminal(ctx, who) {
		return nil, fmt.Errorf("%w: only a person at a terminal can do this; a script cannot erase what happened", httpapi.ErrInvalid)
	}
	s := journal.Session{Tenant: who.Tenant, ID: floodmark.SessionID(r.GetSession())}
	if d.Fleet != nil && d.Fleet.Needs(s) {
		return nil, fmt.Errorf("%w: it tells which fleet this laptop joined; say «floodmark fleet leave» first", httpapi.ErrInvalid)
	}
	why := r.GetWhy()
	if why == "" {
		why = journal.WhyOwner
	}
	if c, err := d.copyNamed(ctx, who, r.GetSession()); err == nil && string(c.name().ID) == r.GetSession() {
		return d.forgetCopy(ctx, who, c, why)
	} else if err != nil && !errors.Is(err, httpapi.ErrNotFound) {
		return nil, err
	}
	t, err := journal.Forget(ctx, d.Journal, d.Key.Signer, s, d.Monitor.MarkAt, d.Now(), why)
	if err != nil {
		return nil, err
	}
	if err := d.Monitor.Forget(ctx, s); err != nil {
		return nil, err
	}
	return &wire.ForgetResponse{Tombstone: wire.FromTombstone(t)}, nil
}
