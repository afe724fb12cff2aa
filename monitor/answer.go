package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// Incidents is the session of every tenant that records incidents outside any known session. No
// agent can write to it.
const Incidents floodmark.SessionID = "floodmark/incidents"

// Files is the session of every tenant that records what its owner did about files that sessions
// left. No agent can write to it.
const Files floodmark.SessionID = "floodmark/files"

// CopyPrefix begins the names under which people see what laptops uploaded. No event may use such a
// session name, so no other session looks like a copy.
const CopyPrefix = "laptop/"

// An Answered is the result of an owner's command.
type Answered struct {
	// Notice is the text for the owner.
	Notice string
	// Facts are what was written: none, or only a refusal, if the command is about something that
	// does not exist.
	Facts []floodmark.Fact
	Link  journal.Link
}

// Answer carries out an owner's command. The caller has authenticated the owner and vouches for
// cmd.By and cmd.Channel.
func (m *Monitor) Answer(ctx context.Context, s journal.Session, cmd approval.Command) (Answered, error) {
	if err := checkNames(s, ""); err != nil {
		return Answered{}, err
	}
	if err := m.begin(); err != nil {
		return Answered{}, refuse(err)
	}
	defer m.done()
	w, err := m.write(ctx, job{session: s, event: hook.Event{Session: s.ID}, alone: true, judge: func(st *kernel.State, r kernel.Rules, in kernel.Input) (kernel.Output, error) {
		if !st.Opened {
			return kernel.Output{}, fmt.Errorf("%w: %s", ErrNoSession, s)
		}
		if err := m.route(groupsOf(ctx), s, st, in, cmd); err != nil {
			return kernel.Output{}, err
		}
		in.Event.Agent = st.Agent
		return kernel.Answer(st, r, in, cmd)
	}})
	if err != nil {
		return Answered{}, err
	}
	return Answered{Notice: m.told(ctx, s, w.out.Late, w.out.Reply.Notice), Facts: w.out.Facts, Link: w.state.link}, nil
}

// Note records an incident in its session, or in [Incidents] if that session was never opened or
// its chain is broken. An incident never opens an agent's session, because the session's past would
// then look known. The same write removes the artifacts in gone.
func (m *Monitor) Note(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen, gone ...artifact.Gone) error {
	seen.Text = cut(seen.Text)
	if s.ID != "" && s.ID != Incidents {
		if err := checkNames(s, ""); err != nil {
			return err
		}
		err := m.note(ctx, s, func(st *kernel.State, _ kernel.Input) (kernel.Output, error) {
			if !st.Opened {
				return kernel.Output{}, fmt.Errorf("%w: %s", ErrNoSession, s)
			}
			return kernel.Output{Facts: []floodmark.Fact{seen}, Gone: gone}, nil
		})
		if !errors.Is(err, ErrNoSession) && !errors.Is(err, journal.ErrBroken) {
			return err
		}
		seen.Text = cut(fmt.Sprintf("session %q: %s", s.ID, seen.Text))
	}
	return m.note(ctx, journal.Session{Tenant: s.Tenant, ID: Incidents}, func(*kernel.State, kernel.Input) (kernel.Output, error) {
		return kernel.Output{Facts: []floodmark.Fact{seen}}, nil
	})
}

// OnFiles records an owner's command about files that sessions left. The recorded artifacts are in
// the input that it passes to what. The caller vouches for the owner's identity.
func (m *Monitor) OnFiles(ctx context.Context, tenant string, what func(*kernel.State, kernel.Input) (kernel.Output, error)) error {
	return m.note(ctx, journal.Session{Tenant: tenant, ID: Files}, what)
}

// note writes facts that need no rules to a session that only the monitor writes to, or to an
// opened one. If the session is not open yet, its first facts open it.
func (m *Monitor) note(ctx context.Context, s journal.Session, what func(*kernel.State, kernel.Input) (kernel.Output, error)) error {
	if err := m.begin(); err != nil {
		return refuse(err)
	}
	defer m.done()
	judge := func(st *kernel.State, _ kernel.Rules, in kernel.Input) (kernel.Output, error) {
		out, err := what(st, in)
		if err == nil && len(out.Facts) > 0 && !st.Opened {
			out.Facts = append([]floodmark.Fact{floodmark.SessionOpened{Agent: "floodmark", Key: in.KeyName}}, out.Facts...)
		}
		return out, err
	}
	_, err := m.write(ctx, job{session: s, event: hook.Event{Session: s.ID}, alone: true, judge: judge, ruleless: true})
	return err
}

// cut keeps a text short enough to be one sentence of a journal.
func cut(text string) string {
	if len(text) <= maxIncidentBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxIncidentBytes], "")
}
