package mcpstdio

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a server says to people steers no terminal.
func TestAServersWordsToPeopleArePlain(t *testing.T) {
	var out bytes.Buffer
	p := newPlainLines(&out, func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) })
	for _, part := range []string{"hel", "lo\n  in\x1b[2J\x1b]0;own\x07ed\u202e\u200b\r\n\xff\xfe\ttab\n", "last \x9b31m"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Error(n, err)
		}
	}
	p.end()
	p.end()
	want := "hello\n  in\uFFFD[2J\uFFFD]0;own\uFFFDed\uFFFD\uFFFD\n\uFFFD\uFFFD tab\nlast \uFFFD31m\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestAServersWordsToPeopleAreBounded(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newPlainLines(&out, func() time.Time { return now })
	say := func(s string) { _, _ = p.Write([]byte(s)) }
	say(strings.Repeat("x", maxSaidLine) + "\n")
	if got := out.String(); got != strings.Repeat("x", maxSaidLine)+"\n" {
		t.Errorf("%d bytes", len(got))
	}
	out.Reset()
	say(strings.Repeat("x", maxSaidLine))
	say(strings.Repeat("x", 10*maxSaidLine) + "\n")
	if got := out.String(); got != strings.Repeat("x", maxSaidLine)+"…\n" {
		t.Errorf("%d bytes", len(got))
	}
	out.Reset()
	lines := 4 * saidAtOnce / 1024
	for range lines {
		say(strings.Repeat("y", 1023) + "\n")
	}
	if out.Len() > saidAtOnce || out.Len() < saidAtOnce/2 {
		t.Errorf("%d bytes", out.Len())
	}
	left := lines - out.Len()/1024
	out.Reset()
	now = now.Add(time.Minute)
	say("again\n")
	if got := out.String(); got != fmt.Sprintf("(%d lines left out: it says too much)\nagain\n", left) {
		t.Errorf("%q", got)
	}
}
