package main

import (
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/internal/mcppins"
)

// maxReviewLines bounds one definition among others; alone it is shown whole.
const maxReviewLines = 60

// reviewText is the answer for people.
func reviewText(out *sheet, list []mcppins.Entry, r *reviewing) {
	if len(list) == 0 {
		out.line(0, "No MCP server was seen yet.")
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
	seenText(out, "Seen first, shown to agents, and not looked at yet", fresh)
	seenText(out, "Accepted", known)
	if r.only != "" && held == 0 && len(list) == 1 {
		bodyText(out, mcppins.Lines(list[0].Old), 0)
	}
	title := "Accept all of a server that is not held, as it is shown here, with"
	for _, e := range fresh {
		if e.Kind == mcppins.Server {
			if title != "" {
				out.line(0, "")
				out.line(0, title)
			}
			title = ""
			out.line(2, "floodmark mcp review --accept "+shellWord(e.Ref+"@"+short(e.Hash))+r.place.flags())
		}
	}
}

// heldText shows the held definition, why, and what changed.
func heldText(out *sheet, e mcppins.Entry, r *reviewing) {
	out.title(e.Ref + ", held")
	for _, f := range e.Findings {
		out.painted(2, f.Reason+": "+f.Detail, out.st.yellow)
	}
	out.line(2, "seen "+e.Seen.UTC().Format(time.DateTime)+" UTC, version "+short(e.Hash))
	most := maxReviewLines
	if r.only == e.Ref {
		most = 0
	}
	switch {
	case e.New == nil:
		out.line(2, "It cannot be shown. --reject it, or ask its author.")
		return
	case e.Old == nil:
		bodyText(out, mcppins.Lines(e.New), most)
	default:
		bodyText(out, linetext.Diff(strings.Join(mcppins.Lines(e.Old), "\n"), strings.Join(mcppins.Lines(e.New), "\n")), most)
	}
	ref := shellWord(e.Ref+"@"+short(e.Hash)) + r.place.flags()
	out.line(2, "floodmark mcp review --accept "+ref)
	out.line(2, "floodmark mcp review --reject "+ref)
}

// bodyText writes lines of a definition or of a difference, with their indent.
func bodyText(out *sheet, lines []string, most int) {
	for i, l := range lines {
		if most > 0 && i >= most {
			out.line(4, "… "+count(len(lines)-most, "more line", "more lines")+"; name it alone to see all")
			return
		}
		sign, text, paint := "", l, out.st.dim
		if len(l) > 1 && strings.ContainsRune("+-@ ", rune(l[0])) && l[1] == ' ' {
			sign, text = l[:2], l[2:]
		}
		switch sign {
		case "- ":
			paint = out.st.red
		case "+ ":
			paint = out.st.green
		}
		bare := strings.TrimLeft(text, " ")
		lead := sign + text[:len(text)-len(bare)]
		for _, part := range linetext.Wrap(bare, out.st.columns()-4-len(lead), wholeWord) {
			out.b.WriteString("    " + paint(lead+part) + "\n")
		}
	}
}

// seenText lists what is shown to agents.
func seenText(out *sheet, title string, list []mcppins.Entry) {
	if len(list) == 0 {
		return
	}
	out.title(title)
	rows := make([][]cell, len(list))
	for i, e := range list {
		rows[i] = cells(e.Ref, e.Seen.UTC().Format(time.DateOnly), short(e.Hash), cut(mcppins.Summary(e.Old), maxCell))
	}
	out.table(2, rows)
}
