package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
)

//go:generate go test . -run ^TestRecording$ -update

// recordingFile is the picture of a terminal in docs/guide/first-look.md.
const recordingFile = "../../docs/images/blocked-attack-terminal.svg"

// TestRecording plays the guide's blocked attack and compares the recording with the output. With
// -update it draws the recording again.
func TestRecording(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/first-look.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	story := ""
	for _, f := range fences(string(page)) {
		if f.info == "text attack.txtar" {
			story = f.text
		}
	}
	const held = "-> confirm flow-private"
	if !strings.Contains(story, held) {
		t.Fatalf("the guide's attack is not held any more:\n%s", story)
	}
	save(t, filepath.Join(dir, "attack.txtar"), story)
	lines := []string{"$ cat attack.txtar"}
	lines = append(lines, strings.Split(strings.TrimRight(story, "\n"), "\n")...)
	lines = append(lines, "$ floodmark policy test attack.txtar")
	lines = append(lines, testedStory(t, dir, cli.ExitOK)...)
	save(t, filepath.Join(dir, "attack.txtar"), strings.Replace(story, held, "-> allow", 1))
	lines = append(lines, "$ sed -i 's/confirm flow-private/allow/' attack.txtar   # hope that the mail goes out", "$ floodmark policy test attack.txtar")
	lines = append(lines, testedStory(t, dir, cli.ExitNo)...)
	want := recording(lines)
	if *update {
		if err := os.WriteFile(recordingFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(recordingFile); err != nil || string(got) != want {
		t.Errorf("the recording is not what comes out today (%v); run go generate", err)
	}
}

// testedStory returns what «floodmark policy test» prints for the story.
func testedStory(t *testing.T, dir string, code int) []string {
	t.Helper()
	var out lockedBuffer
	c := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir, Getenv: func(string) string { return "" }, Build: testBuild(), Shipped: shippedOnce}
	if got := run(t.Context(), c, []string{"policy", "test", "attack.txtar"}); got != code {
		t.Fatalf("exit %d, want %d\n%s", got, code, out.String())
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// recording draws lines one after the other, as they came, on a terminal of
// 100 columns.
func recording(lines []string) string {
	const columns, high, wide = 100, 19, 8.2
	var shown []string
	for _, line := range lines {
		for len([]rune(line)) > columns {
			cut := strings.LastIndex(string([]rune(line)[:columns]), " ")
			shown, line = append(shown, line[:cut]), "         "+line[cut+1:]
		}
		shown = append(shown, line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">`+"\n",
		int(columns*wide)+40, len(shown)*high+50)
	b.WriteString("<title id=\"t\">A terminal: a web page tells the agent to mail the notes to a stranger; the mail waits for the owner</title>\n")
	b.WriteString("<style>text{fill:#e6edf3;white-space:pre;animation:s .01s both}@keyframes s{from{opacity:0}to{opacity:1}}.c{fill:#7ee787;font-weight:700}.n{fill:#ff7b72}.y{fill:#7ee787}" +
		"@media (prefers-reduced-motion:reduce){text{animation-delay:0s!important}}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#0d1117\"/>\n")
	at := 0.3
	for i, line := range shown {
		class := ""
		switch {
		case strings.HasPrefix(line, "$ "):
			at += 1
			class = ` class="c"`
		case strings.HasPrefix(line, "ok "):
			class = ` class="y"`
		case strings.HasPrefix(line, "FAIL"), strings.Contains(line, "got  confirm"), strings.HasPrefix(line, "returns ") && strings.Contains(line, "ASSISTANT"):
			class = ` class="n"`
		}
		fmt.Fprintf(&b, `<text x="20" y="%d"%s style="animation-delay:%.2fs" xml:space="preserve">%s</text>`+"\n", 35+i*high, class, at, xmlText(line))
		at += 0.12
	}
	b.WriteString("</svg>\n")
	return b.String()
}
