package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"
	"unicode"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/internal/people"
	"github.com/floodmark/floodmark/wire"
)

// askTime bounds one request to the monitor. Streams have no limit.
const askTime = time.Minute

// A desk is the connection to the running monitor of one installation.
type desk struct {
	wire.OwnerServiceClient
	place  place
	socket string
	fleet  people.Fleet // the fleet that is asked instead, if any
	// machines answers about laptops.
	machines wire.MachineServiceClient
	end      func()
}

// desk prepares requests to the monitor, and sends none yet: if no monitor runs, the first request
// says so.
func (c *console) desk(p place) (*desk, error) {
	paths, err := c.paths(p)
	if err != nil {
		return nil, err
	}
	way, err := client.Dial(paths.OwnerSocket, client.Options{})
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	return &desk{OwnerServiceClient: way.Owner(), machines: way.Machines(), place: p, socket: paths.OwnerSocket, end: way.Close}, nil
}

// ask sends one request to the monitor and words its errors.
func ask[Q, A any](ctx context.Context, c *console, p place, put func(*desk, context.Context, *Q) (*A, error), q *Q) (*A, error) {
	d, err := c.deskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.end()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a, err := put(d, ctx, q)
	if err != nil {
		return nil, d.unanswered(err)
	}
	return a, nil
}

// absent reports whether an error means that no monitor runs.
func absent(err error) bool {
	var dial *net.OpError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dial) && dial.Op == "dial" && !errors.Is(err, fs.ErrPermission)
}

// unanswered says why there is no answer. An unknown name is wrong input; every other error is a
// refusal.
func (d *desk) unanswered(err error) error {
	if d.atFleet() {
		if said := d.unreached(err); said != nil {
			return said
		}
	}
	code := exitNo
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodeInvalidArgument:
		code = exitUsage
	case connect.CodeInternal, connect.CodeUnknown, connect.CodeUnimplemented:
		code = exitInternal
	default:
	}
	switch {
	case absent(err):
		return d.notRunning()
	case connect.CodeOf(err) == connect.CodePermissionDenied && !connect.IsWireError(err):
		return &failure{
			code: exitNo, text: "the monitor does not take you for its owner: you are another user, or an agent that it guards started you",
			hint: "use a terminal that no agent was started from; the attempt was written down",
		}
	}
	text, hint := strings.TrimSuffix(client.Explain(err), "."), ""
	if connect.IsWireError(err) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "invalid: "), "not found: ")
		text, hint, _ = strings.Cut(text, "; ")
		// The monitor does not know its own flags; the person needs them.
		hint = strings.ReplaceAll(hint, "»", d.place.flags()+"»")
	}
	return &failure{code: code, text: text, hint: hint}
}

// notRunning says that no monitor answers, and how to start one.
func (d *desk) notRunning() error {
	return &failure{
		code: exitNo, text: "no monitor runs here: nothing answers on " + d.socket,
		hint: "start it with " + starts(d.place),
	}
}

// starts returns the command that starts the monitor of a place for good.
func starts(p place) string {
	if p.system {
		return "«sudo floodmark dev service install --system --start»"
	}
	return "«floodmark up" + p.flags() + "»"
}

// flags returns the flags that name the same installation again.
func (p place) flags() string {
	text := ""
	if p.dir != "" {
		text += " --dir " + shellWord(p.dir)
	}
	if p.system {
		text += " --system"
	}
	if p.fleet != "" {
		text += " --fleet " + shellWord(p.fleet)
	}
	return text
}

// shellWord quotes a word if a shell would read it otherwise.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@#%+=,", r)
	}
	if s != "" && !strings.ContainsFunc(s, safe) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// message writes one of the monitor's messages as JSON, as its API does, with counts as numbers.
func (c *console) message(m proto.Message) error {
	data, err := messageJSON(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = c.stdout.Write(b.Bytes())
	return err
}

// messageLine writes a message on one line.
func (c *console) messageLine(m proto.Message) error {
	data, err := messageJSON(m)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(append(data, '\n'))
	return err
}

// messageJSON returns a message in the same bytes each time, with every field that has a plain
// value, so that programs need not know the defaults.
func messageJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	if data, err = wire.Numbered(b.Bytes(), m.ProtoReflect().Descriptor()); err != nil {
		return nil, err
	}
	return linetext.EscapeJSON(data), nil
}

// offerTime is how long a shell waits for names to offer.
const offerTime = 500 * time.Millisecond

// offerSessions completes the first argument with the sessions the monitor has, if it answers in
// time.
func (c *console) offerSessions(p *place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		d, err := c.deskFor(cmd.Context(), *p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.end()
		ctx, cancel := context.WithTimeout(cmd.Context(), offerTime)
		defer cancel()
		all, err := d.Sessions(ctx, &wire.SessionsRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, s := range all.GetSessions() {
			names = append(names, plain(s.GetId())+"\t"+plain(s.GetAgent())+", "+labelText(s.GetMark()))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSession lets shells offer sessions for the flag --session.
func (c *console) completeSession(cmd *cobra.Command, p *place) {
	offer := c.offerSessions(p)
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offer(cmd, nil, begun)
	})
}

// answerTime bounds one answer of a local monitor.
const answerTime = 5 * time.Second
