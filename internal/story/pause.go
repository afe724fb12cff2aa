package story

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
)

// pause plays a command of the owner to pause, observe or resume.
func (w *world) pause(verb string, words []string) error {
	if verb == "resume" {
		if len(words) > 1 {
			return misused(verb, errUsage)
		}
		delete(w.pauses, floodmark.SessionID(wordAt(words, 0)))
		return nil
	}
	if len(words) < 1 || len(words) > 2 {
		return misused(verb, errUsage)
	}
	p := floodmark.Pause{Observe: verb == "observe", From: w.now, By: "owner"}
	d, err := time.ParseDuration(words[0])
	if err == nil && (d <= 0 || d > p.Most()) {
		err = fmt.Errorf("it is at most %s long", p.Most())
	}
	if err != nil {
		return misused(verb, err)
	}
	p.Session, p.Until = floodmark.SessionID(wordAt(words, 1)), w.now.Add(d)
	w.pauses[p.Session] = p
	return nil
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// paused returns the pause that is in effect longest for the current session.
func (w *world) paused() floodmark.Pause {
	var longest floodmark.Pause
	for _, of := range []floodmark.SessionID{"", w.current} {
		if p := w.pauses[of]; p.Holds(w.now) && p.Until.After(longest.Until) {
			longest = p
		}
	}
	return longest
}
