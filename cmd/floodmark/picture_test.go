package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/wire"
)

// watchPicture is the question of «floodmark watch» in the guide.
const watchPicture = "../../docs/images/watch-question.svg"

// letterPays returns the question about a payment that a letter causes.
func letterPays() *wire.Question {
	letter := approval.Origin{Name: "read_file", Place: "letter.txt", Trust: floodmark.External}
	q := approval.Question{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "openclaw", Server: "bank", Name: "send_money"}, Effects: []floodmark.Effect{floodmark.Send},
			Arguments: []floodmark.Argument{
				{Path: "recipient", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External, Shown: "DE02500105170137075030"},
				{Path: "amount", Role: floodmark.Critical, Whence: floodmark.Nowhere, Shown: "45.50"},
				{Path: "subject", Role: floodmark.Content, Whence: floodmark.Nowhere},
			},
		},
		Asked: "What does the letter from the club say?", Pays: true, Led: letter,
		Notes: []approval.Note{{Is: "destination", Goes: true, From: letter}, {Is: "amount"}, {Is: "text"}},
	}
	return &wire.Question{
		Ticket: "t-0199aabb", Session: "openclaw:main", Code: "3f9c21aa", Expires: timestamppb.New(time.Unix(1100, 0)),
		Calls: []*wire.AskedCall{{
			What: q.Brief().What.String(), Why: q.Brief().Why.String(), More: q.Brief().More, Card: q.Lines(), Pick: &wire.Pick{Argument: "recipient", Words: approval.TailWords("recipient", "DE02500105170137075030")},
			Offers: []*wire.Offer{{Words: "this call, once"}},
		}},
	}
}

// TestWatchPicture compares the picture in the guide with what the screen really shows. With
// -update it draws the picture.
func TestWatchPicture(t *testing.T) {
	w := &asking.Watcher{Now: func() time.Time { return time.Unix(1000, 0) }, Width: 36, Height: 24}
	w.Cards.Now = w.Now
	w.Cards.Put(letterPays())
	narrow := w.Text()
	if strings.Contains(narrow, "3f9c21aa") || !strings.Contains(narrow, "y yes · n no · d details") {
		t.Errorf("the question does not fit on a phone's screen:\n%s", narrow)
	}
	for line := range strings.SplitSeq(narrow, "\n") {
		if lipgloss.Width(line) > w.Width {
			t.Errorf("too wide: %q", line)
		}
	}
	w.Width, w.Height = 64, 9
	want := screenPicture(strings.Split(w.Text(), "\n"))
	if *update {
		if err := os.WriteFile(watchPicture, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(watchPicture); err != nil || string(got) != want {
		t.Errorf("%s is not what is shown (%v); run go test ./cmd/floodmark -run WatchPicture -update\n%s", watchPicture, err, w.Text())
	}
}

// screenPicture draws a terminal.
func screenPicture(lines []string) string {
	const high, wide = 19, 565
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="560" role="img" aria-labelledby="t" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">`+"\n",
		wide, len(lines)*high+40)
	b.WriteString("<title id=\"t\">A question in floodmark watch: an agent wants to pay somebody whom only a letter named</title>\n")
	b.WriteString("<style>text{fill:#e6edf3;white-space:pre}.h{font-weight:700}.d{fill:#8b949e}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#0d1117\"/>\n")
	for i, line := range lines {
		class := ""
		switch {
		case i == 0 || strings.Contains(line, " wants to "):
			class = ` class="h"`
		case strings.HasPrefix(line, "y yes"):
			class = ` class="d"`
		}
		fmt.Fprintf(&b, `<text x="20" y="%d"%s xml:space="preserve">%s</text>`+"\n", 32+i*high, class, xmlText(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// xmlText escapes text for XML.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder never fails
	return b.String()
}
