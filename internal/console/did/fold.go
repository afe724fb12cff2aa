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
	"github.com/floodmark/floodmark/kernel/replay"
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
	maxBehind    = 5
	maxCaught    = 10_000 // beyond it, no line is offered that trusts a source
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
	// caught are the sources behind what was stopped or contained, or would have been.
	caught   []floodmark.Source
	isCaught map[caughtAt]bool
}

// A caughtAt is what a line can trust of a source.
type caughtAt struct {
	digest floodmark.Digest
	place  string
}

// newFold returns a fold over some days, of which today is the last one. A day is one of the
// clock's place.
func newFold(now time.Time, days int) *fold {
	y, m, d := now.Date()
	f := &fold{
		since: time.Date(y, m, d-days+1, 0, 0, 0, 0, now.Location()), now: now, days: map[string]*wire.DidDay{},
		channels: map[string]*wire.DidChannel{}, agents: map[string]*wire.DidAgent{}, deeds: map[string]*wire.DidDeed{},
		isCaught: map[caughtAt]bool{},
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

// add adds one session, and returns its figures and whether they will not change until something is
// added to it.
func (f *fold) add(s past.Session) (one quiet, lasting bool, err error) {
	a, err := tally.Count([]tally.Session{s.Session}, f.since, f.now)
	if err != nil {
		return quiet{}, false, err
	}
	one, deeds := f.facts(s.Facts)
	one.tasks, one.failed, one.counts = int32(a.Tasks), int32(a.BoxFailed), a.Sessions > 0
	f.figures(one)
	f.out.Stopped += int64(a.Refused)
	f.out.Contained += int64(a.Boxed)
	for _, q := range a.Questions {
		f.question(q)
	}
	if deeds || a.Refused+a.Boxed > 0 {
		return one, false, f.recall(s)
	}
	whole := len(s.Facts) > 0 && one.first >= f.since.UnixNano()
	return one, whole && len(a.Questions) == 0, nil
}

// figures adds what quiet sessions have, too.
func (f *fold) figures(one quiet) {
	if one.counts {
		f.out.Sessions++
	}
	f.out.Decisions += int64(one.decisions)
	f.out.Tasks += int64(one.tasks)
	f.out.ContainedFailed += int64(one.failed)
	f.agent(one)
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
	name = past.Foreign(cmp.Or(name, "unknown"))
	if f.channels[name] == nil {
		if len(f.channels) >= maxChannels {
			return &wire.DidChannel{}
		}
		f.channels[name] = &wire.DidChannel{Channel: name}
	}
	return f.channels[name]
}

// facts counts by day what happened in a session, and reports whether something would have been
// stopped or contained.
func (f *fold) facts(list []replay.Recorded) (one quiet, deeds bool) {
	for i, entry := range list {
		if at := entry.At.UnixNano(); i == 0 || at < one.first { // the clock may have been set back
			one.first = at
		}
		in := !entry.At.Before(f.since)
		switch fact := entry.Fact.(type) {
		case floodmark.SessionOpened:
			one.agent = fact.Agent
		case floodmark.SessionForked:
			one.agent = fact.Agent
		case floodmark.IncidentSeen:
			if in && slices.Contains([]string{transcript.Unseen, transcript.Unmediated, transcript.RefusedRan}, fact.Kind) {
				one.unseen++
			}
		case floodmark.ActionDecided:
			if !in {
				continue
			}
			one.last = entry.At.UnixNano()
			if fact.Action.Kind != floodmark.CallModel && fact.Action.Kind != floodmark.SendReply {
				one.decisions++
			}
			deeds = deeds || fact.Decision.Would != ""
			if fact.Decision.Verdict == floodmark.Restrict {
				f.day(entry.At).Stopped++
			}
			if fact.Decision.Word() == floodmark.Contain {
				f.day(entry.At).Contained++
			}
		default:
		}
	}
	return one, deeds
}

func (f *fold) agent(seen quiet) {
	if !seen.counts && seen.unseen == 0 {
		return
	}
	name := past.Foreign(cmp.Or(seen.agent, "unknown"))
	one := f.agents[name]
	if one == nil {
		if len(f.agents) >= maxAgents {
			return
		}
		one = &wire.DidAgent{Agent: name}
		f.agents[name] = one
	}
	if seen.counts {
		one.Sessions++
	}
	one.Decisions += int64(seen.decisions)
	one.Unseen += int64(seen.unseen)
	if last := time.Unix(0, seen.last); seen.last != 0 && last.After(one.GetLast().AsTime()) {
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
		for _, src := range d.Blamed {
			if at := (caughtAt{src.Digest, src.Origin.Place}); !f.isCaught[at] && len(f.caught) < maxCaught {
				f.isCaught[at] = true
				f.caught = append(f.caught, src)
			}
		}
		key := string(d.Fate) + "\x00" + d.What + "\x00" + map[bool]string{true: "would"}[d.Would]
		one := f.deeds[key]
		if one == nil {
			if len(f.deeds) >= maxDeeds {
				continue
			}
			one = &wire.DidDeed{Fate: string(d.Fate), What: past.Foreign(d.What), Why: past.Foreign(d.Why), Would: d.Would}
			one.Why = past.Foreign(told(d))
			for _, b := range d.Behind[:min(maxBehind, len(d.Behind))] {
				one.Behind = append(one.Behind, past.Foreign(b))
			}
			f.deeds[key] = one
		}
		one.Times += int64(d.Times)
		one.Secret = one.GetSecret() || d.Secret
		if one.GetLast() == nil || d.Last.After(one.GetLast().AsTime()) {
			one.Last, one.Session = timestamppb.New(d.Last), past.Foreign(s.Name)
		}
	}
	return nil
}

// told says why a call was stopped or contained, the most telling reason first: what it would have
// done, and then who or what stopped it.
func told(d tally.Deed) string {
	why := d.Why
	if d.By != "" {
		why = "refused by " + d.By
	}
	switch {
	case d.Grave == tally.FetchedCode && d.Code == floodmark.TaintEscalation:
		return d.Grave // the effect that the table names is only a guess at what the code does
	case d.Grave != "":
		return d.Grave + ": " + why
	case d.Key:
		return "a key would have been read: " + why
	}
	return why
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
// would have left, other lasting harm, what was stopped, and the others.
func gravity(d *wire.DidDeed) int {
	stopped := d.GetFate() == string(tally.Stopped)
	switch {
	case d.GetWould() && (stopped || d.GetSecret()):
		return 0
	case d.GetSecret():
		return 1
	case stopped && (strings.HasPrefix(d.GetWhy(), tally.FetchedCode) || strings.HasPrefix(d.GetWhy(), tally.LogsIn)):
		return 2
	case stopped:
		return 3
	}
	return 4
}
