package codingday

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/cardscreen"
	"github.com/floodmark/floodmark/internal/tape"
	"github.com/floodmark/floodmark/wire"
)

var cardsTo = flag.String("cards", "", "write the cards of a replayed week into this folder")

// A weekCard is a question of a replayed week, and who made the call.
type weekCard struct {
	question approval.Question
	says     tape.Says
}

// text is the card as «floodmark watch» shows it in 80 columns.
func (c weekCard) text() string {
	b := c.question.Brief()
	q := &wire.Question{Calls: []*wire.AskedCall{{What: b.What.String(), Why: b.Why.String(), Asked: c.question.Asked}}}
	for _, o := range c.question.Offers {
		q.Calls[0].Offers = append(q.Calls[0].Offers, &wire.Offer{Words: o.Words})
	}
	var rows []string
	for _, r := range cardscreen.Card(q, 80, 0) {
		rows = append(rows, r.Text)
	}
	return strings.Join(rows, "\n") + "\n"
}

// TestWeekCards writes each card of the development week into a file of its own, for
// readers who are to see nothing else, and the truth into FOLDER.truth.json.
func TestWeekCards(t *testing.T) {
	lines, err := readTape(recordingOf("dev"))
	if err != nil {
		t.Fatal(err)
	}
	most := fewEvents
	if *cardsTo != "" {
		most = len(lines)
	}
	got, err := replayWeek(t.Context(), t.TempDir(), lines, most)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[string]string{}
	for i, c := range got.cards {
		name, text := fmt.Sprintf("card-%03d.txt", i+1), c.text()
		if n := strings.Count(text, "\n"); n > cardscreen.MaxRows {
			t.Errorf("%s has %d rows:\n%s", name, n, text)
		}
		truth[name] = "honest"
		if c.says.Of != "" {
			truth[name] = "attack " + c.says.Of
		}
		if *cardsTo == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(*cardsTo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if *cardsTo == "" {
		return
	}
	data, err := json.MarshalIndent(truth, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Clean(*cardsTo)+".truth.json", data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cards", len(got.cards))
}
