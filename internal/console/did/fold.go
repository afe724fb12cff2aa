package did

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/transcript"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/wire"
)

// The limits of what is held while sessions are read. Beyond them things are counted, and not
// listed.
const (
	maxQuestions = 5_000
	maxDeeds     = 2_000
	shownDeeds   = 50
	maxAgents    = 100
	maxChannels  = 50
	maxForeign   = 600 // characters of a text of others
	maxBehind    = 5
)

// A fold adds up sessions.
type fold struct {
	since, now time.Time
	out        *wire.DidResponse
	days       map[string]*wire.DidDay
	channels   map[string]*wire.DidChannel
	agents     map[string]*wire.DidAgent
	deeds      map[string]*wire.DidDeed
	questions  []*tally.Question
	caught     []floodmark.Source // behind what was stopped or contained, or would have been
}

// newFold returns a fold over some days, of which today is the last one. A day is one of the
// clock's place.
func newFold(now time.Time, days int) *fold {
	y, m, d := now.Date()
	f := &fold{
		since: time.Date(y, m, d-days+1, 0, 0, 0, 0, now.Location()), now: now, days: map[string]*wire.DidDay{},
		channels: map[string]*wire.DidChannel{}, agents: map[string]*wire.DidAgent{}, deeds: map[string]*wire.DidDeed{},
	}
	f.out = &wire.DidResponse{Since: timestamppb.New(f.since)}
	for i := range days {
		day := &wire.DidDay{Day: time.Date(y, m, d-days+1+i, 0, 0, 0, 0, now.Location()).Format(time.DateOnly)}
		f.days[day.GetDay()] = day
		f.out.Days = append(f.out.Days, day)
	}
	return f
}

// day returns the day of a time; one that is thrown away if the time is not in the span.
func (f *fold) day(at time.Time) *wire.DidDay {
	if d, ok := f.days[at.In(f.now.Location()).Format(time.DateOnly)]; ok {
		return d
	}
	return &wire.DidDay{}
}

// add adds one session.
func (f *fold) add(s past.Session) error {
	a, err := tally.Count([]tally.Session{s.Session}, f.since, f.now)
	if err != nil {
		return err
	}
	o := f.out
	o.Sessions += int64(a.Sessions)
	o.Decisions += int64(a.Decisions)
	o.Tasks += int64(a.Tasks)
	o.Stopped += int64(a.Refused)
	o.Contained += int64(a.Boxed)
	o.ContainedFailed += int64(a.BoxFailed)
	for _, q := range a.Questions {
		f.question(q)
	}
	if f.facts(s, a) {
		return f.recall(s)
	}
	return nil
}

func (f *fold) question(q *tally.Question) {
	f.out.Asked++
	f.day(q.At).Asked++
	switch q.Outcome {
	case tally.Approved:
		f.out.Yes++
		f.channel(q.Channel).Yes++
	case tally.Denied:
		f.out.No++
		f.channel(q.Channel).No++
	case tally.Expired:
		f.out.Expired++
	case tally.Voided:
		f.out.Voided++
	case tally.Waiting:
		f.out.Waiting++
	}
	if len(f.questions) < maxQuestions {
		f.questions = append(f.questions, q)
	}
}

func (f *fold) channel(name string) *wire.DidChannel {
	name = foreign(cmp.Or(name, "unknown"))
	if f.channels[name] == nil {
		if len(f.channels) >= maxChannels {
			return &wire.DidChannel{}
		}
		f.channels[name] = &wire.DidChannel{Channel: name}
	}
	return f.channels[name]
}

// facts counts by day and by agent what happened in a session, and reports whether something was
// stopped or contained, or would have been.
func (f *fold) facts(s past.Session, a *tally.Account) (deeds bool) {
	agent, last, unseen := "", time.Time{}, int64(0)
	for _, one := range s.Facts {
		in := !one.At.Before(f.since)
		switch fact := one.Fact.(type) {
		case floodmark.SessionOpened:
			agent = fact.Agent
		case floodmark.SessionForked:
			agent = fact.Agent
		case floodmark.IncidentSeen:
			if in && slices.Contains([]string{transcript.Unseen, transcript.Unmediated, transcript.RefusedRan}, fact.Kind) {
				unseen++
			}
		case floodmark.ActionDecided:
			if !in {
				continue
			}
			last = one.At
			deeds = deeds || fact.Decision.Would != ""
			if fact.Decision.Verdict == floodmark.Restrict {
				f.day(one.At).Stopped++
			}
			if fact.Decision.Word() == floodmark.Contain {
				f.day(one.At).Contained++
			}
		default:
		}
	}
	f.agent(agent, a, last, unseen)
	return deeds || a.Refused+a.Boxed > 0
}

func (f *fold) agent(name string, a *tally.Account, last time.Time, unseen int64) {
	if a.Sessions == 0 && unseen == 0 {
		return
	}
	name = foreign(cmp.Or(name, "unknown"))
	one := f.agents[name]
	if one == nil {
		if len(f.agents) >= maxAgents {
			return
		}
		one = &wire.DidAgent{Agent: name}
		f.agents[name] = one
	}
	one.Sessions += int64(a.Sessions)
	one.Decisions += int64(a.Decisions)
	one.Unseen += unseen
	if !last.IsZero() && last.After(one.GetLast().AsTime()) {
		one.Last = timestamppb.New(last)
	}
}

// recall adds what was stopped or contained in a session.
func (f *fold) recall(s past.Session) error {
	r, err := tally.Recall([]tally.Session{s.Session}, f.since)
	if err != nil {
		return err
	}
	for _, d := range r.Deeds {
		if d.Fate == tally.Asked {
			continue
		}
		f.caught = append(f.caught, d.Blamed...)
		key := string(d.Fate) + "\x00" + d.What + "\x00" + map[bool]string{true: "would"}[d.Would]
		one := f.deeds[key]
		if one == nil {
			if len(f.deeds) >= maxDeeds {
				continue
			}
			one = &wire.DidDeed{Fate: string(d.Fate), What: foreign(d.What), Why: foreign(d.Why), Would: d.Would}
			if d.Key {
				one.Why = foreign("a key would have been read: " + d.Why)
			}
			for _, b := range d.Behind[:min(maxBehind, len(d.Behind))] {
				one.Behind = append(one.Behind, foreign(b))
			}
			f.deeds[key] = one
		}
		one.Times += int64(d.Times)
		one.Secret = one.GetSecret() || d.Secret
		if one.GetLast() == nil || d.Last.After(one.GetLast().AsTime()) {
			one.Last, one.Session = timestamppb.New(d.Last), foreign(s.Name)
		}
	}
	return nil
}

// finish returns the answer without what cost questions.
func (f *fold) finish() *wire.DidResponse {
	f.out.Channels = slices.SortedFunc(maps.Values(f.channels), func(a, b *wire.DidChannel) int {
		return cmp.Or(cmp.Compare(b.GetYes()+b.GetNo(), a.GetYes()+a.GetNo()), cmp.Compare(a.GetChannel(), b.GetChannel()))
	})
	f.out.Agents = slices.SortedFunc(maps.Values(f.agents), func(a, b *wire.DidAgent) int {
		return cmp.Or(cmp.Compare(b.GetDecisions(), a.GetDecisions()), cmp.Compare(a.GetAgent(), b.GetAgent()))
	})
	deeds := slices.SortedFunc(maps.Values(f.deeds), func(a, b *wire.DidDeed) int {
		return cmp.Or(gravity(a)-gravity(b), cmp.Compare(b.GetTimes(), a.GetTimes()), cmp.Compare(a.GetWhat(), b.GetWhat()))
	})
	f.out.Deeds = deeds[:min(shownDeeds, len(deeds))]
	return f.out
}

// gravity returns the rank of a deed: what ran although it would have been stopped, a secret that
// would have left, what was stopped, and the others.
func gravity(d *wire.DidDeed) int {
	stopped := d.GetFate() == string(tally.Stopped)
	switch {
	case d.GetWould() && (stopped || d.GetSecret()):
		return 0
	case d.GetSecret():
		return 1
	case stopped:
		return 2
	}
	return 3
}

// foreign makes a text of others safe to send.
func foreign(text string) string {
	return floodmark.Shorten(strings.ToValidUTF8(text, "\uFFFD"), maxForeign)
}
