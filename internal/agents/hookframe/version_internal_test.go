package hookframe

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
)

// A daemon answers every older form, and no newer one.
func TestSpoken(t *testing.T) {
	for _, c := range []struct {
		v, oldest, newest int
		want              bool
	}{
		{1, 1, 1, true},
		{0, 1, 1, false},
		{2, 1, 1, false},
		{1, 1, 3, true},
		{3, 1, 3, true},
		{4, 1, 3, false},
		{1, 2, 3, false},
	} {
		if got := spoken(c.v, c.oldest, c.newest); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if !spoken(Oldest, Oldest, Version) || !spoken(Version, Oldest, Version) {
		t.Error("our own")
	}
}

// exchange lets a daemon answer one question, given as bytes.
func exchange(t *testing.T, question string) string {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.Background(), there, func(_ context.Context, req Request) Response { return Response{Stdout: req.Event} })
	}()
	go func() { _ = write(here, json.RawMessage(question), MaxRequest) }()
	data, err := read(here, MaxResponse)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil && !errors.Is(err, ErrVersion) {
		t.Fatal(err)
	}
	return string(data)
}

// A request in an old version is answered in that version. The bytes are spelled out here and never
// change.
func TestAnOldProgramIsAnsweredInItsOwnVersion(t *testing.T) {
	got := exchange(t, `{"v":1,"agent":"codex","event":"PreToolUse","raw":{"a":1},"env":{"HOME":"/home/dev"},"deadline_ms":2000}`)
	if want := `{"v":1,"stdout":"PreToolUse","stderr":"","exit":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// If the versions do not match, either side's denial names both.
func TestARefusalNamesBothVersions(t *testing.T) {
	got := exchange(t, `{"v":7,"who":"codex"}`)
	if !strings.Contains(got, "version 7") || !strings.Contains(got, "version 1") || !strings.Contains(got, `"exit":2`) {
		t.Errorf("the daemon says %s", got)
	}
	for _, answer := range []string{`{"v":7,"stdout":"","stderr":"","exit":0}`, `{"v":7,"verdict":"allow"}`} {
		var b strings.Builder
		if err := write(&b, json.RawMessage(answer), MaxResponse); err != nil {
			t.Fatal(err)
		}
		_, err := ReadResponse(strings.NewReader(b.String()))
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version 7") || !strings.Contains(err.Error(), "version 1") {
			t.Errorf("the program says %v", err)
		}
	}
}
