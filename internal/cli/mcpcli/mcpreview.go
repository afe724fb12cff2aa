package mcpcli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A reviewing contains the flags of «mcp review».
type reviewing struct {
	place                  cli.Place
	accept, reject, forget []string
	only                   string
}

func newMCPReview(c *cli.Console) *cobra.Command {
	r := &reviewing{}
	cmd := &cobra.Command{
		Use:   "review [SERVER or SERVER/TOOL]",
		Short: "Review what MCP servers say about themselves",
		Long: `Show which definitions of MCP servers are held back from agents, why, and what
changed; and those that agents see but you have not reviewed yet. An invisible
character is shown as \u{200b}. With the name of a server, show everything of it;
with that of a tool, its whole definition.

--accept shows agents a held definition from now on, exactly as it is shown here:
after @ come the first digits of its version, and no other version is accepted. With
a server's name it accepts everything of the server that is not held; that version
changes if the running server adds something meanwhile. Another command that waits
under that name is accepted by its version only. What you accepted is your own word:
it no longer counts as text that a stranger wrote, and does not lower the mark of
sessions that read it. --reject keeps a version from being shown for good. --forget
drops a server you no longer have.

You must say these at a terminal that no agent started, and the monitor
must run. Nothing is accepted by itself.`,
		Example: `  floodmark mcp review
  floodmark mcp review github/create_issue
  floodmark mcp review --accept github@9f8e7d6c
  floodmark mcp review --accept mail/send_letter@1a2b3c4d`,
		Annotations: cli.Exits("nothing is held, or your answer was recorded", "something is held"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Needs("SERVER")(cmd, args)
			}
			return nil
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.only = args[0]
			}
			return review(cmd.Context(), c, r, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &r.place)
	cmd.Flags().StringArrayVar(&r.accept, "accept", nil, "accept `SERVER` or SERVER/TOOL, with or without @VERSION; several times for several")
	cmd.Flags().StringArrayVar(&r.reject, "reject", nil, "reject `SERVER/TOOL`[@VERSION], or another command of SERVER")
	cmd.Flags().StringArrayVar(&r.forget, "forget", nil, "forget everything known about `SERVER`")
	return cmd
}

// pinsPath returns the path of the pins. MCP servers run as the owner's user, even if the monitor
// has a user of its own.
func pinsPath(c *cli.Console, p cli.Place) (string, error) {
	p.System = false
	paths, err := c.Paths(p)
	return paths.Pins, err
}

// book opens the pins.
func book(c *cli.Console, p cli.Place) (*mcppins.Book, error) {
	path, err := pinsPath(c, p)
	if err != nil {
		return nil, err
	}
	return bookAt(path)
}

func bookAt(path string) (*mcppins.Book, error) {
	b, err := mcppins.Open(path)
	if err != nil {
		return nil, &cli.Failure{
			Code: cli.ExitNo, Text: err.Error() + "; until then every definition is held",
			Hint: "look at " + path + "; if it cannot be repaired, move it away: every server then counts as seen for the first time",
		}
	}
	return b, nil
}

func review(ctx context.Context, c *cli.Console, r *reviewing, form string) error {
	if len(r.accept)+len(r.reject)+len(r.forget) > 0 {
		return settle(ctx, c, r, form)
	}
	b, err := book(c, r.place)
	if err != nil {
		return err
	}
	list, err := b.Entries()
	if err != nil {
		return cli.Refuse("", "%s", err)
	}
	if list = chosen(list, r.only); len(list) == 0 && r.only != "" {
		return cli.Refuse("«floodmark mcp review» lists what was seen", "nothing called %q was seen", cli.Shorten(r.only))
	}
	if form == cli.AsJSON {
		err = reviewJSON(c, list)
	} else {
		out := &cli.Sheet{St: c.OutStyle()}
		reviewText(out, list, r)
		fmt.Fprint(c.Stdout, out)
	}
	if err == nil && heldCount(list) > 0 {
		return cli.ErrNo
	}
	return err
}

// chosen returns the entries that match a server or a reference; all if only is empty.
func chosen(list []mcppins.Entry, only string) []mcppins.Entry {
	if only == "" {
		return list
	}
	var out []mcppins.Entry
	for _, e := range list {
		if e.Ref == only || e.Server == only || mcppins.Visible(e.Server) == only {
			out = append(out, e)
		}
	}
	return out
}

func heldCount(list []mcppins.Entry) (n int) {
	for _, e := range list {
		if e.Held {
			n++
		}
	}
	return n
}

// A reviewEntry is an entry for programs: fields are only added.
type reviewEntry struct {
	Server   string            `json:"server"`
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Ref      string            `json:"ref"`
	Version  string            `json:"version"`
	Seen     string            `json:"seen,omitempty"`
	Held     bool              `json:"held"`
	Accepted bool              `json:"accepted"`
	Findings []mcppins.Finding `json:"findings"`
	Line     string            `json:"line,omitempty"`
	Old      json.RawMessage   `json:"old,omitempty"`
	New      json.RawMessage   `json:"new,omitempty"`
}

func reviewJSON(c *cli.Console, list []mcppins.Entry) error {
	out := make([]reviewEntry, len(list))
	for i, e := range list {
		out[i] = reviewEntry{
			Server: e.Server, Kind: e.Kind, Name: e.Name, Ref: e.Ref, Version: e.Hash, Held: e.Held, Accepted: e.Looked && !e.Held,
			Findings: append([]mcppins.Finding{}, e.Findings...), Line: e.Line, Old: e.Old, New: e.New,
		}
		if !e.Seen.IsZero() {
			out[i].Seen = e.Seen.UTC().Format(time.RFC3339)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"entries": out}); err != nil {
		return err
	}
	// With an indent, line breaks are only between values, so each line can be escaped by itself.
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, l := range lines {
		lines[i] = string(linetext.EscapeJSON([]byte(l)))
	}
	_, err := fmt.Fprintln(c.Stdout, strings.Join(lines, "\n"))
	return err
}

// HeldLine says on one line which definitions of MCP servers are held; empty if none is.
func HeldLine(c *cli.Console, p cli.Place) string {
	b, err := book(c, p)
	if err != nil {
		return "MCP servers: " + err.Error()
	}
	list, err := b.Entries()
	if err != nil {
		return "MCP servers: " + err.Error()
	}
	n := heldCount(list)
	if n == 0 {
		return ""
	}
	const most = 3
	var names []string
	for _, e := range list[:min(n, most)] {
		names = append(names, cli.Cut(cli.Plain(e.Ref), cli.MaxCell))
	}
	text := cli.Count(n, "definition of an MCP server is held", "definitions of MCP servers are held") + ": " + strings.Join(names, ", ")
	if n > most {
		text += " …"
	}
	return text + " (floodmark mcp review" + p.Flags() + ")"
}
