package agents_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

const chatPicture = "../../docs/images/chat-question.svg"

// The size of a small phone: columns of text in a bubble, lines on a screen.
const (
	phoneColumns = 36
	phoneLines   = 22
)

// TestChatPicture compares the picture in the guide with the question that OpenClaw really gets.
// With -update it draws the picture again.
func TestChatPicture(t *testing.T) {
	d := openclawDesk(t)
	d.door.Native.Words = func(s floodmark.SessionID, ticket floodmark.TicketID, most int) string {
		for _, p := range d.monitor.Pending("") {
			if p.Session.ID == s && p.Ticket == ticket {
				return p.Questions[0].Text(most)
			}
		}
		t.Error("the question is not known")
		return ""
	}
	_, resp := d.runs(outward, "c2")
	var asked struct {
		Ask struct{ Title, Description string }
	}
	if err := json.Unmarshal([]byte(resp.Stdout), &asked); err != nil || asked.Ask.Title == "" {
		t.Fatalf("%v: %s", err, resp.Stdout)
	}
	var lines []string
	for line := range strings.SplitSeq(asked.Ask.Description, "\n") {
		lines = append(lines, wrapped(line)...)
	}
	if len(lines) > phoneLines {
		t.Errorf("%d lines do not fit on a phone's screen:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	want := bubble(asked.Ask.Title, lines)
	if *update {
		if err := os.WriteFile(chatPicture, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(chatPicture); err != nil || string(got) != want {
		t.Errorf("%s is not what is asked (%v); run go test ./internal/agents -run ChatPicture -update\n%s", chatPicture, err, asked.Ask.Description)
	}
}

// wrapped breaks a line as a phone does: at spaces, and long words anywhere.
func wrapped(line string) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var lines []string
	at := indent
	for _, word := range strings.Fields(line) {
		for n := utf8.RuneCountInString(word); n > phoneColumns; n = utf8.RuneCountInString(word) {
			lines, word = append(lines, string([]rune(word)[:phoneColumns])), string([]rune(word)[phoneColumns:])
		}
		if at != indent && utf8.RuneCountInString(at)+1+utf8.RuneCountInString(word) > phoneColumns {
			lines, at = append(lines, at), ""
		}
		if strings.TrimSpace(at) != "" {
			at += " "
		}
		at += word
	}
	return append(lines, at)
}

// bubble draws a message of an agent in a chat on a phone.
func bubble(title string, lines []string) string {
	const wide, high, row = 360, 640, 20
	text := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
		return b.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="14">`+"\n", wide+40, high+40)
	b.WriteString("<title>A question of Floodmark in the chat of an agent</title>\n")
	fmt.Fprintf(&b, `<rect x="20" y="20" width="%d" height="%d" rx="16" fill="#e7e3da"/>`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect x="32" y="34" width="%d" height="%d" rx="10" fill="#ffffff"/>`+"\n", wide-40, (len(lines)+1)*row+34)
	fmt.Fprintf(&b, `<text x="44" y="58" font-weight="bold">%s</text>`+"\n", text(title))
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="44" y="%d" xml:space="preserve">%s</text>`+"\n", 84+i*row, text(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
