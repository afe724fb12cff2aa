package asking

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

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// watchScreen runs the screen until the person ends it or the monitor stops.
func watchScreen(ctx context.Context, c *cli.Console, d *cli.Desk, q *wire.WatchRequest) error {
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if err != nil {
		return d.Unanswered(err) // before the screen is used
	}
	ctx, stop := context.WithCancel(ctx)
	w := &Watcher{Cards: cardscreen.Screen{Now: c.Clock, Fleet: d.AtFleet()}, pauses: s.GetPauses(), st: c.OutStyle(), Now: c.Clock, answer: answerBy(ctx, d), pending: pendingBy(ctx, d, q.GetSession())}
	screen := tea.NewProgram(w, tea.WithContext(ctx), tea.WithInput(c.Stdin), tea.WithOutput(screen(c)))
	var stream sync.WaitGroup
	if c.StdinTerminal { // as for «floodmark trust»
		w.Cards.Vouch = func(r *wire.EndorseRequest) { stream.Go(func() { screen.Send(vouchBy(ctx, d, r)) }) }
	}
	stream.Go(func() {
		err := follow(ctx, d, q, func(r *wire.WatchResponse) error {
			screen.Send(happened{r})
			return nil
		})
		screen.Send(ended{err})
	})
	_, err = screen.Run()
	stop()
	stream.Wait()
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		return cli.Refuse("pipe it somewhere to get one line for each event", "use the terminal: %s", err)
	}
	return w.err
}

// screen returns the terminal itself, because the screen library asks it for its size.
func screen(c *cli.Console) io.Writer {
	if s, ok := c.Stdout.(*cli.Sink); ok {
		return s.To
	}
	return c.Stdout
}

// hungUp reports whether an error only says that the other side closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// View implements [tea.Model].
func (w *Watcher) View() tea.View {
	v := tea.NewView(w.Text())
	v.AltScreen = true
	return v
}

// Text returns the text of the whole screen.
func (w *Watcher) Text() string {
	width, height := w.Width, w.Height
	if width <= 0 || height <= 0 {
		return ""
	}
	var below []string
	for _, r := range w.Cards.Draw(width, height-1-len(w.pauses)) {
		text := cli.Plain(r.Text)
		switch {
		case r.Strong:
			text = w.st.Bold(text)
		case r.Faint:
			text = w.st.Dim(text)
		}
		below = append(below, text)
	}
	waiting, older := w.Cards.Waiting()
	if waiting == 0 {
		below = append(below, w.st.Dim("q ends"))
	}
	for _, p := range w.pauses {
		if p.GetUntil().AsTime().After(w.Now()) {
			below = append([]string{w.st.Yellow(cli.Cut(cli.Plain(PauseText(p)), width))}, below...)
		}
	}
	head := "Floodmark watches. " + cli.Count(waiting, "question waits", "questions wait") + " for you. ? shows the keys."
	if waiting > 1 {
		head += " Up and down choose another."
	}
	if older > 0 {
		head += fmt.Sprintf(" %d of ended turns: «floodmark approve».", older)
	}
	room := max(0, height-1-len(below))
	events := w.events[max(0, len(w.events)-room):]
	list := []string{w.st.Bold(cli.Cut(head, width))}
	narrow := lipgloss.NewStyle().MaxWidth(width) // it ignores the width of colour codes
	for _, e := range events {
		list = append(list, narrow.Render(e))
	}
	for range room - len(events) {
		list = append(list, "")
	}
	list = append(list, below...)
	return strings.Join(list[:min(len(list), height)], "\n")
}
