package telegram_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

var update = flag.Bool("update", false, "draw the pictures anew")

const picture = "../../../docs/images/telegram-card.svg"

// TestThePicture compares the picture in the guide with the cards really sent. With -update it
// draws the picture.
func TestThePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		for _, q := range []approval.Question{steered(), routine()} {
			id := fmt.Sprint("t-", len(d.server.Messages()))
			d.ask(t, approval.Ticket{ID: floodmark.TicketID(id), Session: "s", Calls: 1, Call: q, Expires: d.now().Add(2 * time.Minute)})
		}
		var b strings.Builder
		fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="14">`+"\n", 2*phoneWidth+60, phoneHeight+40)
		b.WriteString("<title>Two questions of Floodmark in Telegram</title>\n")
		for i, m := range d.server.Messages() {
			if bottom := phone(&b, 20+i*(phoneWidth+20), 20, m); bottom > 20+phoneHeight {
				t.Errorf("the card does not fit on a phone's screen: %d of %d pixels\n%s", bottom, phoneHeight, m.Text)
			}
			t.Logf("%s\n%q", m.Text, m.Labels)
		}
		b.WriteString("</svg>\n")
		if *update {
			if err := os.WriteFile(picture, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
			t.Error(err)
		}
		got, err := os.ReadFile(picture)
		if err != nil || string(got) != b.String() {
			t.Errorf("%s is not what is sent (%v); run go test ./internal/ask/telegram -run ThePicture -update", picture, err)
		}
	})
}

// steered is a call caused by an injected page.
func steered() approval.Question {
	news := approval.Origin{Name: "web_fetch", Place: "news.example/today", Trust: floodmark.External}
	return approval.Question{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "openclaw", Name: "send_email"}, Effects: []floodmark.Effect{floodmark.Send},
			Arguments: []floodmark.Argument{
				{Path: "to", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External, Shown: "billing@payments-desk.example"},
				{Path: "attachments[0]", Role: floodmark.Critical, Whence: floodmark.Nowhere, Shown: "invoices.pdf"},
				{Path: "body", Role: floodmark.Content, Whence: floodmark.Nowhere},
			},
		},
		Asked: "Read https://news.example/today and tell me what is new", About: "sends a mail", Led: news,
		Notes:  []approval.Note{{Is: "destination", Goes: true, From: news}, {Is: "path"}, {Is: "text"}},
		Offers: []approval.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}},
		Pick:   &approval.Pick{Argument: "to", Among: []string{"anna@firm.example", "billing@payments-desk.example", "tax@office.example"}},
	}
}

// routine is a question of an ordinary day.
func routine() approval.Question {
	return approval.Question{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "codex", Name: "shell"}, Effects: []floodmark.Effect{floodmark.Run},
			Arguments: []floodmark.Argument{{Path: "command", Role: floodmark.Critical, Whence: floodmark.Nowhere, Shown: "go test ./parser"}},
		},
		Asked: "Look up how the parser of pkg.example reads dates, fix ours, and run its tests", About: "runs a command",
		Led: approval.Origin{Name: "web_fetch", Place: "pkg.example/parser", Trust: floodmark.External},
		Offers: []approval.Offer{
			{Words: "this call, once", Scope: floodmark.GrantOnce},
			{Words: "`go test` in this project for 2 h", Scope: floodmark.GrantPattern, Pattern: "go test", For: 2 * time.Hour},
		},
	}
}

// The size of a small phone and of its texts, in points.
const (
	phoneWidth, phoneHeight = 360, 640
	margin, lineHeight      = 12, 20
	buttonHeight            = 36
)

// A glyph is a rune and how it is drawn.
type glyph struct {
	r    rune
	kind string
}

func (g glyph) width() float64 {
	switch g.kind {
	case "code":
		return 8.1
	case "bold":
		return 7.9
	}
	return 7.1
}

// phone draws a message with its buttons, and returns where it ends.
func phone(b *strings.Builder, x, y int, m bottest.Message) int {
	lines := wrapped(glyphs(m), float64(phoneWidth-4*margin))
	height := len(lines)*lineHeight + 2*margin
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="16" fill="#d5e3ee"/>`+"\n", x, y, phoneWidth, phoneHeight)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="10" fill="#ffffff"/>`+"\n", x+margin, y+margin, phoneWidth-2*margin, height)
	at := y + 2*margin
	for _, line := range lines {
		at += lineHeight
		fmt.Fprintf(b, `<text x="%d" y="%d" xml:space="preserve">`, x+2*margin, at-5)
		for len(line) > 0 {
			n := 1
			for n < len(line) && line[n].kind == line[0].kind {
				n++
			}
			span(b, line[:n])
			line = line[n:]
		}
		b.WriteString("</text>\n")
	}
	at = y + margin + height
	for _, label := range m.Labels {
		at += 4
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="#7f9fb8"/>`+"\n", x+margin, at, phoneWidth-2*margin, buttonHeight)
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="#ffffff" text-anchor="middle">%s</text>`+"\n", x+phoneWidth/2, at+23, escaped(label))
		at += buttonHeight
	}
	return at
}

func span(b *strings.Builder, run []glyph) {
	var text strings.Builder
	for _, g := range run {
		text.WriteRune(g.r)
	}
	style := map[string]string{"bold": ` font-weight="bold"`, "code": ` font-family="monospace" font-size="13" fill="#8a3b12"`}[run[0].kind]
	fmt.Fprintf(b, "<tspan%s>%s</tspan>", style, escaped(text.String()))
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// glyphs are a message's runes, each with its mark.
func glyphs(m bottest.Message) []glyph {
	var list []glyph
	at := 0
	for _, r := range m.Text {
		g := glyph{r: r}
		for _, e := range m.Entities {
			if at >= e.Offset && at < e.Offset+e.Length {
				g.kind = e.Type
			}
		}
		list = append(list, g)
		at += utf16.RuneLen(r)
	}
	return list
}

// wrapped breaks a text as a phone does: at spaces, and long words anywhere.
func wrapped(list []glyph, width float64) [][]glyph {
	var lines [][]glyph
	var line []glyph
	used, space := 0.0, -1
	for _, g := range list {
		if g.r == '\n' {
			lines, line, used, space = append(lines, line), nil, 0, -1
			continue
		}
		line = append(line, g)
		used += g.width()
		if g.r == ' ' {
			space = len(line)
		}
		if used <= width {
			continue
		}
		cut := len(line) - 1
		if space > 0 {
			cut = space
		}
		rest := append([]glyph(nil), line[cut:]...)
		lines, line, used, space = append(lines, line[:cut]), rest, 0, -1
		for _, g := range rest {
			used += g.width()
		}
	}
	return append(lines, line)
}
