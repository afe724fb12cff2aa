package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/floodmark/floodmark/internal/cardscreen"
	"github.com/floodmark/floodmark/wire"
)

// watchScreen runs the screen until the person ends it or the monitor stops.
func (c *console) watchScreen(ctx context.Context, d *desk, q *wire.WatchRequest) error {
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if err != nil {
		return d.unanswered(err) // before the screen is used
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{cards: cardscreen.Screen{Now: c.clock, Fleet: d.atFleet()}, pauses: s.GetPauses(), st: c.outStyle(), now: c.clock, answer: answerBy(ctx, d), pending: pendingBy(ctx, d, q.GetSession())}
	screen := tea.NewProgram(w, tea.WithContext(ctx), tea.WithInput(c.stdin), tea.WithOutput(c.screen()))
	var stream sync.WaitGroup
	if c.stdinTerminal { // as for «floodmark trust»
		w.cards.Vouch = func(r *wire.EndorseRequest) { stream.Go(func() { screen.Send(vouchBy(ctx, d, r)) }) }
	}
	stream.Go(func() {
		err := d.follow(ctx, q, func(r *wire.WatchResponse) error {
			screen.Send(happened{r})
			return nil
		})
		screen.Send(ended{err})
	})
	_, err = screen.Run()
	stop()
	stream.Wait()
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		return refuse("pipe it somewhere to get one line for each event", "use the terminal: %s", err)
	}
	return w.err
}

// screen returns the terminal itself, which is asked for its size.
func (c *console) screen() io.Writer {
	if s, ok := c.stdout.(*sink); ok {
		return s.to
	}
	return c.stdout
}

// hungUp reports whether an error only says that the other side is gone.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// View implements [tea.Model].
func (w *watcher) View() tea.View {
	v := tea.NewView(w.text())
	v.AltScreen = true
	return v
}

// text is the whole screen.
func (w *watcher) text() string {
	width, height := w.width, w.height
	if width <= 0 || height <= 0 {
		return ""
	}
	var below []string
	for _, r := range w.cards.Draw(width, height-1-len(w.pauses)) {
		text := plain(r.Text)
		switch {
		case r.Strong:
			text = w.st.bold(text)
		case r.Faint:
			text = w.st.dim(text)
		}
		below = append(below, text)
	}
	waiting, older := w.cards.Waiting()
	if waiting == 0 {
		below = append(below, w.st.dim("q ends"))
	}
	for _, p := range w.pauses {
		if p.GetUntil().AsTime().After(w.now()) {
			below = append([]string{w.st.yellow(cut(plain(pauseText(p)), width))}, below...)
		}
	}
	head := "Floodmark watches. " + count(waiting, "question waits", "questions wait") + " for you. ? shows the keys."
	if waiting > 1 {
		head += " Up and down choose another."
	}
	if older > 0 {
		head += fmt.Sprintf(" %d of ended turns: «floodmark approve».", older)
	}
	room := max(0, height-1-len(below))
	events := w.events[max(0, len(w.events)-room):]
	list := []string{w.st.bold(cut(head, width))}
	narrow := lipgloss.NewStyle().MaxWidth(width) // it knows that colours have no width
	for _, e := range events {
		list = append(list, narrow.Render(e))
	}
	for range room - len(events) {
		list = append(list, "")
	}
	list = append(list, below...)
	return strings.Join(list[:min(len(list), height)], "\n")
}
