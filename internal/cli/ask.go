package cli

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
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/wire"
)

// AskTime bounds one request to the monitor. Streams have no limit.
const AskTime = time.Minute

// A Desk is the connection to the running monitor of one installation.
type Desk struct {
	wire.OwnerServiceClient
	Place  Place
	Socket string
	Fleet  people.Fleet // the fleet that is asked instead of the monitor, if any
	// Machines sends requests about laptops.
	Machines wire.MachineServiceClient
	// Console opens the owner's pages in a browser; nil at a fleet.
	Console wire.ConsoleServiceClient
	End     func()
}

// Desk prepares requests to the monitor without sending any. If no monitor runs, only the first
// request fails.
func (c *Console) Desk(p Place) (*Desk, error) {
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	way, err := client.Dial(paths.OwnerSocket, client.Options{})
	if err != nil {
		return nil, Refuse("", "%s", err)
	}
	return &Desk{OwnerServiceClient: way.Owner(), Machines: way.Machines(), Console: way.Console(), Place: p, Socket: paths.OwnerSocket, End: way.Close}, nil
}

// Ask sends one request to the monitor and turns its errors into text for people.
func Ask[Q, A any](ctx context.Context, c *Console, p Place, put func(*Desk, context.Context, *Q) (*A, error), q *Q) (*A, error) {
	d, err := c.DeskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.End()
	ctx, cancel := context.WithTimeout(ctx, AskTime)
	defer cancel()
	a, err := put(d, ctx, q)
	if err != nil {
		return nil, d.Unanswered(err)
	}
	return a, nil
}

// Absent reports whether an error means that no monitor runs.
func Absent(err error) bool {
	var dial *net.OpError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dial) && dial.Op == "dial" && !errors.Is(err, fs.ErrPermission)
}

// Unanswered returns the failure for a request that got no answer. The exit code is [ExitUsage] for
// an unknown name or a wrong argument, [ExitInternal] for a bug of ours, else [ExitNo].
func (d *Desk) Unanswered(err error) error {
	if d.AtFleet() {
		if said := d.unreached(err); said != nil {
			return said
		}
	}
	code := ExitNo
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodeInvalidArgument:
		code = ExitUsage
	case connect.CodeInternal, connect.CodeUnknown, connect.CodeUnimplemented:
		code = ExitInternal
	default:
	}
	switch {
	case Absent(err):
		return d.notRunning()
	case connect.CodeOf(err) == connect.CodePermissionDenied && !connect.IsWireError(err):
		return &Failure{
			Code: ExitNo, Text: "the monitor accepts this only from its owner: you are another user, or an agent that it guards started this command",
			Hint: "use a terminal that no agent started; the attempt is in the journal",
		}
	}
	text, hint := strings.TrimSuffix(client.Explain(err), "."), ""
	if connect.IsWireError(err) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "invalid: "), "not found: ")
		text, hint, _ = strings.Cut(text, "; ")
		// The monitor does not know its own flags; the person needs them.
		hint = strings.ReplaceAll(hint, "»", d.Place.Flags()+"»")
	}
	return &Failure{Code: code, Text: text, Hint: hint}
}

// notRunning says that no monitor answers, and how to start one.
func (d *Desk) notRunning() error {
	return &Failure{
		Code: ExitNo, Text: "no monitor runs here: nothing answers on " + d.Socket,
		Hint: "start it with " + Starts(d.Place),
	}
}

// Starts returns the command that starts the monitor of a place and keeps it running.
func Starts(p Place) string {
	if p.System {
		return "«sudo floodmark dev service install --system --start»"
	}
	return "«floodmark up" + p.Flags() + "»"
}

// Flags returns the flags that name the same installation in another command.
func (p Place) Flags() string {
	text := ""
	if p.Dir != "" {
		text += " --dir " + ShellWord(p.Dir)
	}
	if p.System {
		text += " --system"
	}
	if p.Fleet != "" {
		text += " --fleet " + ShellWord(p.Fleet)
	}
	return text
}

// ShellWord quotes a word if a shell would not take it literally.
func ShellWord(s string) string {
	safe := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@#%+=,", r)
	}
	if s != "" && !strings.ContainsFunc(s, safe) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Message writes one of the monitor's messages as indented JSON, as in its API, with counts as
// numbers.
func (c *Console) Message(m proto.Message) error {
	data, err := MessageJSON(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = c.Stdout.Write(b.Bytes())
	return err
}

// MessageLine writes a message on one line.
func (c *Console) MessageLine(m proto.Message) error {
	data, err := MessageJSON(m)
	if err != nil {
		return err
	}
	_, err = c.Stdout.Write(append(data, '\n'))
	return err
}

// MessageJSON returns a message as JSON, always in the same bytes. Fields with default values are
// included, so that programs need not know the defaults.
func MessageJSON(m proto.Message) ([]byte, error) {
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

// OfferTime is how long shell completion waits for names.
const OfferTime = 500 * time.Millisecond

// OfferSessions completes the first argument with the monitor's sessions, if the monitor answers in
// time.
func (c *Console) OfferSessions(p *Place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		d, err := c.DeskFor(cmd.Context(), *p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.End()
		ctx, cancel := context.WithTimeout(cmd.Context(), OfferTime)
		defer cancel()
		all, err := d.Sessions(ctx, &wire.SessionsRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, s := range all.GetSessions() {
			names = append(names, Plain(s.GetId())+"\t"+Plain(s.GetAgent())+", "+LabelText(s.GetMark()))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteSession completes the flag --session with sessions.
func (c *Console) CompleteSession(cmd *cobra.Command, p *Place) {
	offer := c.OfferSessions(p)
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offer(cmd, nil, begun)
	})
}

// AnswerTime bounds one request to a local monitor that answers at once.
const AnswerTime = 5 * time.Second
