package records

import (
	"bufio"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/wire"
)

// A replayer judges the sessions of an export again, one by one.
type replayer struct {
	opt               replayFlags
	session           string // if a file is read, only this session
	trial             replay.Retrial
	endorse, withdraw []contentName
	found             map[contentName]bool // the named contents that were found

	// The session being read.
	name   string
	facts  []replay.Recorded
	first  uint64 // the number of its first entry
	erased *floodmark.Label

	sum rejudge.Sum
	// keep, unless nil, collects the sessions instead of judging them again.
	keep func(tally.Session) error
}

// replayLive reads the journal of the running monitor.
func replayLive(ctx context.Context, c *cli.Console, r *replayer, opt replayFlags) error {
	return entries(ctx, c, opt.Place, &wire.ExportRequest{Session: opt.session}, func(p *wire.ExportResponse) error {
		if t := p.GetTombstone(); t != nil {
			return r.stone(t)
		}
		return r.entry(p.GetEntry())
	})
}

// replayFile reads what «floodmark journal export» wrote.
func replayFile(c *cli.Console, r *replayer, name string) error {
	in := c.Stdin
	if name != cli.StdinName {
		f, err := os.Open(c.Path(name))
		if err != nil {
			return cli.Unreadable(name, err)
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), 3*factjson.MaxBytes+128<<10) // a fact in base64, with the other fields
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if err := r.line(lines.Bytes()); err != nil {
			return cli.Refuse("give a file that «floodmark journal export» wrote", "%s:%d: %s", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return cli.Unreadable(name, err)
	}
	return nil
}

// line reads one line of an export: an entry, or a tombstone.
func (r *replayer) line(data []byte) error {
	var e wire.Entry
	err := protojson.Unmarshal(data, &e)
	if err != nil {
		var t wire.Tombstone
		if protojson.Unmarshal(data, &t) != nil || t.GetSession() == "" {
			return err
		}
		if r.session != "" && t.GetSession() != r.session {
			return nil
		}
		return r.stone(&t)
	}
	if r.session != "" && e.GetSession() != r.session {
		return nil
	}
	return r.entry(&e)
}

// stone handles a tombstone: it begins a session whose earlier facts were erased.
func (r *replayer) stone(t *wire.Tombstone) error {
	if err := r.begin(t.GetSession()); err != nil {
		return err
	}
	var mark floodmark.Label // an unknown word leaves the zero value, which restricts most
	mark.Trust, _ = floodmark.ParseTrust(t.GetMark().GetTrust())
	mark.Secrecy, _ = floodmark.ParseSecrecy(t.GetMark().GetSecrecy())
	r.erased = &mark
	return nil
}

// entry adds one fact.
func (r *replayer) entry(e *wire.Entry) error {
	if err := r.begin(e.GetSession()); err != nil {
		return err
	}
	f, err := factjson.Decode(e.GetKind(), []byte(e.GetBody()))
	if err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "%s#%d: %s", e.GetSession(), e.GetSeq(), err)
	}
	if len(r.facts) == 0 {
		r.first = e.GetSeq()
	}
	r.facts = append(r.facts, replay.Recorded{At: time.Unix(0, e.GetAt()).UTC(), Fact: f})
	return nil
}

// begin ends the previous session, if this entry is of another one.
func (r *replayer) begin(session string) error {
	if session == r.name {
		return nil
	}
	if err := r.end(); err != nil {
		return err
	}
	r.name = session
	return nil
}

// end judges the session that was read.
func (r *replayer) end() error {
	facts, erased := r.facts, r.erased
	r.facts, r.erased = nil, nil
	if len(facts) == 0 {
		return nil
	}
	if r.keep != nil {
		return r.keep(tally.Session{Name: r.name, Facts: facts, Erased: erased})
	}
	trial := r.trial
	trial.Endorse, trial.Disown = r.contents(r.endorse, facts), r.contents(r.withdraw, facts)
	if err := r.sum.Session(trial, tally.Session{Name: r.name, Facts: facts, Erased: erased}, r.first); err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "judge %s again: %s", r.name, err)
	}
	return nil
}

// contents returns the digests of the named contents that are in this session.
func (r *replayer) contents(names []contentName, facts []replay.Recorded) []floodmark.Digest {
	var list []floodmark.Digest
	for _, name := range names {
		if name.session != r.name {
			continue
		}
		for _, f := range facts {
			for _, digest := range floodmark.Placed(f.Fact) {
				if strings.HasPrefix(digest.String(), name.digest) && !slices.Contains(list, digest) {
					list = append(list, digest)
				}
			}
		}
		if len(list) > 0 {
			if r.found == nil {
				r.found = map[contentName]bool{}
			}
			r.found[name] = true
		}
	}
	return list
}

// missing returns the first named content that is in no session.
func (r *replayer) missing() (contentName, bool) {
	for _, name := range slices.Concat(r.endorse, r.withdraw) {
		if !r.found[name] {
			return name, true
		}
	}
	return contentName{}, false
}
