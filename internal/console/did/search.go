package did

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// The limits of a search. A person waits for it.
const (
	usualFound = 50
	maxFound   = 200
	searchTime = 20 * time.Second
	// searches is how many are answered at once: each takes a processor and the memory of a session.
	searches = 2
	// often is how often a search says how far it is.
	often       = 250 * time.Millisecond
	maxWords    = 10
	maxAskBytes = 500 // of a text of the request
)

// A wanted says which decisions are looked for.
type wanted struct {
	words                        []string
	verdict, answered, by, agent string
	since, until                 time.Time
	after                        place // zero: from the newest on
	of                           group
}

// A place is where a decision stands in the list: the newest first, and of the same time by session.
type place struct {
	at      time.Time
	session string
	number  uint64
}

// compare orders places as they are listed.
func (p place) compare(o place) int {
	return cmp.Or(o.at.Compare(p.at), cmp.Compare(p.session, o.session), cmp.Compare(o.number, p.number))
}

// A found is a decision with its place.
type found struct {
	place
	row *wire.FoundDecision
}

// A search goes through sessions, the last written first. A decision is sent as soon as no session
// that is still unread can hold a newer one.
type search struct {
	want        wanted
	limit       int
	now         func() time.Time
	send        func(*wire.SearchDecisionsResponse) error
	held        []found // in order, at most one more than can still be sent
	sent        int
	out         *wire.SearchDecisionsResponse // the next message
	began, told time.Time
}

// SearchDecisions implements [httpapi.DidPage].
func (d *Desk) SearchDecisions(ctx context.Context, who httpapi.Identity, r *wire.SearchDecisionsRequest, send func(*wire.SearchDecisionsResponse) error) error {
	want, err := wants(r)
	if err != nil {
		return err
	}
	if want.of, err = d.groupOf(who.Tenant, r.GetGroup()); err != nil {
		return err
	}
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = usualFound
	}
	if limit < 0 || limit > maxFound {
		return fmt.Errorf("%w: limit: want 1 to %d", httpapi.ErrInvalid, maxFound)
	}
	select {
	case d.searching <- struct{}{}:
		defer func() { <-d.searching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := d.opts.Now()
	s := &search{want: want, limit: limit, now: d.opts.Now, send: send, out: &wire.SearchDecisionsResponse{}, began: now, told: now}
	for one, err := range past.Between(ctx, d.opts.Journal, who.Tenant, want.since, moment(r.GetWrittenBefore())) {
		if err != nil {
			return err
		}
		if one.Name == string(monitor.Incidents) || one.Name == string(monitor.Pauses) {
			continue
		}
		more, err := s.take(one)
		if err != nil {
			return err
		}
		if !more {
			return s.end()
		}
	}
	s.release(time.Time{})
	return s.end()
}

// take searches one session. It returns false if nothing more is wanted.
func (s *search) take(one past.Session) (bool, error) {
	if s.release(one.Written); s.out.GetMore() {
		return false, nil
	}
	now := s.now()
	if now.Sub(s.began) > searchTime && s.out.GetSessions() > 0 {
		s.release(time.Time{})
		reached := one.Written.Add(time.Nanosecond)
		s.out.Stopped = fmt.Sprintf("it took longer than %s; sessions that were last written before %s were not searched", searchTime, reached.Format(time.DateTime))
		s.out.Reached = timestamppb.New(reached)
		return false, nil
	}
	if now.Sub(s.told) > often || len(s.out.GetFound()) > 0 {
		if err := s.tell(now); err != nil {
			return false, err
		}
	}
	s.out.Sessions++
	if one.Wrong != nil { // it has no facts
		s.out.Unread++
	}
	for f := range matches(&s.want, one, now) {
		s.hold(f)
	}
	return true, nil
}

// hold keeps a decision, unless enough newer ones are held.
func (s *search) hold(f found) {
	at, _ := slices.BinarySearchFunc(s.held, f, func(a, b found) int { return a.compare(b.place) })
	if at > s.limit-s.sent {
		return
	}
	s.held = slices.Insert(s.held, at, f)
	s.held = s.held[:min(len(s.held), s.limit-s.sent+1)]
}

// release puts into the next message what is newer than all that is still unread.
func (s *search) release(unread time.Time) {
	n := 0
	for n < len(s.held) && s.held[n].at.After(unread) {
		if s.sent == s.limit {
			s.out.More = true
			break
		}
		s.out.Found = append(s.out.Found, s.held[n].row)
		s.sent++
		n++
	}
	s.held = slices.Delete(s.held, 0, n)
}

// tell sends the next message.
func (s *search) tell(now time.Time) error {
	s.told = now
	err := s.send(s.out)
	s.out = &wire.SearchDecisionsResponse{Sessions: s.out.GetSessions(), Unread: s.out.GetUnread()}
	return err
}

func (s *search) end() error {
	s.out.Done = true
	return s.send(s.out)
}

// wants reads a request.
func wants(r *wire.SearchDecisionsRequest) (w wanted, err error) {
	w = wanted{
		words: strings.Fields(strings.ToLower(r.GetWords())), verdict: r.GetVerdict(), answered: r.GetAnswered(), by: strings.ToLower(strings.TrimSpace(r.GetBy())),
		agent: r.GetAgent(), since: moment(r.GetSince()), until: moment(r.GetUntil()),
	}
	for name, text := range map[string]string{"words": r.GetWords(), "by": r.GetBy(), "agent": r.GetAgent()} {
		if len(text) > maxAskBytes {
			return w, fmt.Errorf("%w: %s: at most %d bytes", httpapi.ErrInvalid, name, maxAskBytes)
		}
	}
	switch {
	case len(w.words) > maxWords:
		return w, fmt.Errorf("%w: words: at most %d", httpapi.ErrInvalid, maxWords)
	case !slices.Contains([]string{"", floodmark.Allow.String(), floodmark.Contain, floodmark.Audit.String(), floodmark.Confirm.String(), floodmark.Restrict.String()}, w.verdict):
		return w, fmt.Errorf("%w: verdict: there is no %.40q", httpapi.ErrInvalid, w.verdict)
	case !slices.Contains([]string{"", answeredAny, answerYes, answerNo, answeredNone, answerEarlier}, w.answered):
		return w, fmt.Errorf("%w: answered: there is no %.40q", httpapi.ErrInvalid, w.answered)
	}
	if r.GetAfter() == "" {
		return w, nil
	}
	cut := strings.LastIndexByte(r.GetAfter(), '#')
	number, err := strconv.ParseUint(r.GetAfter()[cut+1:], 10, 64)
	if cut < 1 || err != nil || r.GetAfterAt() == nil {
		return w, fmt.Errorf("%w: after: want a decision, as SESSION#7, and its time", httpapi.ErrInvalid)
	}
	w.after = place{at: moment(r.GetAfterAt()), session: r.GetAfter()[:cut], number: number}
	return w, nil
}

// moment returns a time of the wire. A missing one is zero.
func moment(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
