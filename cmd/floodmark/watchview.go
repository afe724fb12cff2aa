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

	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/wire"
)

// watchScreen runs the screen until somebody ends it or the monitor stops.
func (c *console) watchScreen(ctx context.Context, d *desk, q *wire.WatchRequest) error {
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if err != nil {
		return d.unanswered(err) // before the screen is taken
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{fleet: d.atFleet(), pauses: s.GetPauses(), st: c.outStyle(), now: c.clock, answer: answerBy(ctx, d), pending: pendingBy(ctx, d, q.GetSession())}
	screen := tea.NewProgram(w, tea.WithContext(ctx), tea.WithInput(c.stdin), tea.WithOutput(c.screen()))
	var stream sync.WaitGroup
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

// screen is the terminal itself, which is asked for its size.
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
	below := strings.Split(strings.TrimSuffix(w.below(width), "\n"), "\n")
	for _, p := range w.pauses {
		if p.GetUntil().AsTime().After(w.now()) {
			below = append([]string{w.st.yellow(cut(plain(pauseText(p)), width))}, below...)
		}
	}
	room := max(0, height-1-len(below))
	events := w.events[max(0, len(w.events)-room):]
	list := []string{w.st.bold(cut("Floodmark watches. "+count(len(w.open), "question waits", "questions wait")+" for you.", width))}
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

// below is the question that is shown, and what the keys do.
func (w *watcher) below(width int) string {
	var b strings.Builder
	put := func(paint func(string) string, indent, text string) {
		for _, l := range linetext.Wrap(text, max(20, width-lipgloss.Width(indent)), 0) {
			if paint != nil {
				l = paint(l)
			}
			b.WriteString(indent + l + "\n")
		}
	}
	q := w.question()
	if q == nil {
		put(nil, "", w.notice)
		put(w.st.dim, "", "q ends")
		return b.String()
	}
	told := w.notice
	if w.about != "" && w.about != q.GetTicket() { // it is about the one before
		put(nil, "", told)
		told = ""
	}
	left := max(0, q.GetExpires().AsTime().Sub(w.now()))
	put(w.st.yellow, "", fmt.Sprintf("%s, session %s, ends in %s", q.GetTicket(), q.GetSession(), span(left)))
	for _, call := range q.GetCalls() {
		for i, l := range cardLines(call) {
			paint := w.st.bold
			if i > 0 || len(call.GetCard()) == 0 {
				paint = nil
			}
			put(paint, strings.Repeat(" ", 2+l.indent), l.text)
		}
		if call.GetPick() != nil {
			put(nil, "  ", pickText(call.GetPick()))
		}
	}
	if word := w.word(q); word != "" {
		put(nil, "  ", "code "+word)
	}
	put(nil, "", told)
	if w.placing {
		put(w.st.bold, "", "Now say where it goes, then enter: "+w.typed+"_ · esc: do not approve")
		return b.String()
	}
	if w.typing {
		put(w.st.bold, "", "Type the code to approve, then enter: "+w.typed+"_ · esc: do not approve")
		return b.String()
	}
	keys := "d or enter: deny · a: approve"
	for n := 2; offers(q, n); n++ {
		keys += fmt.Sprintf(" · %d: approve %s", n, q.GetCalls()[0].GetOffers()[n-1].GetWords())
	}
	if len(w.open) > 1 {
		keys += " · up, down: another question"
	}
	put(w.st.dim, "", keys+" · q: end")
	return b.String()
}
