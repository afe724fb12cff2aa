package mcpcli

import (
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// maxReviewLines bounds a definition that is shown with others. A definition that is named alone is
// shown whole.
const maxReviewLines = 60

// reviewText formats the answer for people.
func reviewText(out *cli.Sheet, list []mcppins.Entry, r *reviewing) {
	if len(list) == 0 {
		out.Line(0, "No MCP server was seen yet.")
		return
	}
	held := heldCount(list)
	for _, e := range list[:held] {
		heldText(out, e, r)
	}
	var fresh, known []mcppins.Entry
	for _, e := range list[held:] {
		if e.Looked {
			known = append(known, e)
		} else {
			fresh = append(fresh, e)
		}
	}
	seenText(out, "Shown to agents, and not reviewed by you yet", fresh)
	seenText(out, "Accepted", known)
	if r.only != "" && held == 0 && len(list) == 1 {
		bodyText(out, mcppins.Lines(list[0].Old), 0)
	}
	title := "Accept all of a server that is not held, as it is shown here, with"
	for _, e := range fresh {
		if e.Kind == mcppins.Server {
			if title != "" {
				out.Line(0, "")
				out.Line(0, title)
			}
			title = ""
			out.Line(2, "floodmark mcp review --accept "+cli.ShellWord(e.Ref+"@"+cli.Short(e.Hash))+r.place.Flags())
		}
	}
}

// heldText shows a held definition, why it is held, and what changed.
func heldText(out *cli.Sheet, e mcppins.Entry, r *reviewing) {
	out.Title(e.Ref + ", held")
	for _, f := range e.Findings {
		out.Painted(2, f.Reason+": "+f.Detail, out.St.Yellow)
	}
	out.Line(2, "seen "+e.Seen.UTC().Format(time.DateTime)+" UTC, version "+cli.Short(e.Hash))
	most := maxReviewLines
	if r.only == e.Ref {
		most = 0
	}
	switch {
	case e.New == nil:
		out.Line(2, "It cannot be shown. --reject it, or ask its author.")
		return
	case e.Old == nil:
		bodyText(out, mcppins.Lines(e.New), most)
	default:
		bodyText(out, linetext.Diff(strings.Join(mcppins.Lines(e.Old), "\n"), strings.Join(mcppins.Lines(e.New), "\n")), most)
	}
	ref := cli.ShellWord(e.Ref+"@"+cli.Short(e.Hash)) + r.place.Flags()
	out.Line(2, "floodmark mcp review --accept "+ref)
	out.Line(2, "floodmark mcp review --reject "+ref)
}

// bodyText writes the lines of a definition or of a difference, and keeps their indent.
func bodyText(out *cli.Sheet, lines []string, most int) {
	for i, l := range lines {
		if most > 0 && i >= most {
			out.Line(4, "… "+cli.Count(len(lines)-most, "more line", "more lines")+"; name it alone to see all")
			return
		}
		sign, text, paint := "", l, out.St.Dim
		if len(l) > 1 && strings.ContainsRune("+-@ ", rune(l[0])) && l[1] == ' ' {
			sign, text = l[:2], l[2:]
		}
		switch sign {
		case "- ":
			paint = out.St.Red
		case "+ ":
			paint = out.St.Green
		}
		bare := strings.TrimLeft(text, " ")
		lead := sign + text[:len(text)-len(bare)]
		for _, part := range linetext.Wrap(bare, out.St.Columns()-4-len(lead), cli.WholeWord) {
			out.B.WriteString("    " + paint(lead+part) + "\n")
		}
	}
}

// seenText lists definitions that agents are shown.
func seenText(out *cli.Sheet, title string, list []mcppins.Entry) {
	if len(list) == 0 {
		return
	}
	out.Title(title)
	rows := make([][]cli.Cell, len(list))
	for i, e := range list {
		rows[i] = cli.Cells(e.Ref, e.Seen.UTC().Format(time.DateOnly), cli.Short(e.Hash), cli.Cut(mcppins.Summary(e.Old), cli.MaxCell))
	}
	out.Table(2, rows)
}
