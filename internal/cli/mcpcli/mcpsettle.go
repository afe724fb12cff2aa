package mcpcli

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// settle applies the owner's order. The monitor's socket refuses processes that an agent started,
// so only the owner can give one.
func settle(ctx context.Context, c *cli.Console, r *reviewing, form string) error {
	if err := asOwner(ctx, c, r.place); err != nil {
		return err
	}
	b, err := book(c, r.place)
	if err != nil {
		return err
	}
	b.Telling(journaled(c, r.place))
	out := &cli.Sheet{St: c.OutStyle()}
	var done []mcppins.Entry
	for _, one := range []struct {
		refs []string
		do   func(context.Context, string) (mcppins.Entry, error)
		say  func(mcppins.Entry) string
	}{
		{r.accept, b.Accept, acceptedText},
		{r.reject, b.Reject, rejectedText},
		{r.forget, func(ctx context.Context, server string) (mcppins.Entry, error) {
			return mcppins.Entry{Server: server, Kind: mcppins.Server, Ref: server}, b.Forget(ctx, server)
		}, func(e mcppins.Entry) string { return e.Ref + " is forgotten: it is seen for the first time again." }},
	} {
		for _, ref := range one.refs {
			e, err := one.do(ctx, ref)
			if err != nil {
				fmt.Fprint(c.Stdout, out)
				return unsettled(err)
			}
			done = append(done, e)
			out.Line(0, one.say(e))
		}
	}
	if form == cli.AsJSON {
		return reviewJSON(c, done)
	}
	fmt.Fprint(c.Stdout, out)
	return nil
}

// journaled returns a function that records the owner's decision on a definition.
func journaled(c *cli.Console, p cli.Place) mcppins.Told {
	return func(ctx context.Context, word string, e mcppins.Entry) error {
		text := cli.Shorten(e.Ref)
		if e.Hash != "" {
			text += " in version " + cli.Short(e.Hash)
		}
		_, err := cli.Ask(ctx, c, p, (*cli.Desk).Report, &wire.ReportRequest{
			Session: string(monitor.Incidents), Incidents: []*wire.Incident{{Kind: "definition-" + word, Text: text}},
		})
		return err
	}
}

// unsettled returns why an order was not applied.
func unsettled(err error) error {
	if said := (*cli.Failure)(nil); errors.As(err, &said) {
		return err // the monitor refused to record it, and said why
	}
	hint := "«floodmark mcp review» lists what was seen"
	switch {
	case errors.Is(err, mcppins.ErrNobody):
		hint = "ask the author of the server to mend it; --reject or --forget it meanwhile"
	case errors.Is(err, mcppins.ErrVersion):
		hint = "look at it with «floodmark mcp review», which says the version"
	case errors.Is(err, mcppins.ErrMoved):
		hint = "look at it again with «floodmark mcp review»: the server changed it meanwhile"
	}
	return cli.Refuse(hint, "%s", err)
}

func acceptedText(e mcppins.Entry) string {
	switch {
	case e.Kind == mcppins.Server && e.Held:
		return e.Ref + ": its other command is accepted. What it says is compared with what was seen under this name."
	case e.Kind == mcppins.Server:
		return e.Ref + " is accepted with all that is not held of it. These texts no longer lower the mark of a session."
	}
	return e.Ref + " is accepted in version " + cli.Short(e.Hash) + ". Agents are shown it, and it no longer lowers the mark of a session."
}

func rejectedText(e mcppins.Entry) string {
	if e.Held && e.Old != nil {
		return e.Ref + " is rejected in version " + cli.Short(e.Hash) + "; the version before stays."
	}
	return e.Ref + " is rejected in version " + cli.Short(e.Hash) + "; agents are not shown it."
}
