package codingday

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/internal/story/tape"
	"github.com/floodmark/floodmark/wire"
)

var (
	cardsTo  = flag.String("cards", "", "write the cards of the rehearsed week that -week names into this folder")
	shuffled = flag.Uint64("shuffled", 1, "the seed of the order of -cards")
)

// A weekCard is a question of a replayed week, and what the tape says about the call.
type weekCard struct {
	question approval.Question
	says     tape.Says
}

// text returns the card as «floodmark watch» shows it in 80 columns.
func (c weekCard) text() string {
	b := c.question.Brief()
	q := &wire.Question{Calls: []*wire.AskedCall{{What: b.What.String(), Why: b.Why.String(), Asked: c.question.Asked}}}
	for _, o := range c.question.Offers {
		q.Calls[0].Offers = append(q.Calls[0].Offers, &wire.Offer{Words: o.Words, Scope: string(o.Scope)})
	}
	var rows []string
	for _, r := range cardscreen.Card(q, 80, 0) {
		rows = append(rows, r.Text)
	}
	return strings.Join(rows, "\n") + "\n"
}

// A cardTruth is what a reader of a card has to find out.
type cardTruth struct {
	Card    string `json:"card"`
	Attack  bool   `json:"attack"`
	Session string `json:"session"`
	Of      string `json:"of,omitempty"`
	Call    string `json:"call"`
}

// TestWeekCards checks the size of the cards of the recorded week. With -cards it writes the cards
// of a rehearsed week into one file, in random order, for readers who must see nothing else. It
// writes the truth about each card into another file.
func TestWeekCards(t *testing.T) {
	lines, err := readTape(recordingOf("dev"))
	most := fewEvents
	if *cardsTo != "" {
		lines, err = readRehearsal(rehearsalOf(*week))
		most = len(lines)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := replayWeek(t.Context(), t.TempDir(), lines, most)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(*shuffled, 0))
	dice.Shuffle(len(got.cards), func(i, k int) { got.cards[i], got.cards[k] = got.cards[k], got.cards[i] })
	var cards strings.Builder
	var truth []cardTruth
	for i, c := range got.cards {
		name, text := fmt.Sprintf("card %d", i+1), c.text()
		if n := strings.Count(text, "\n"); n > cardscreen.MaxRows {
			t.Errorf("%s has %d rows:\n%s", name, n, text)
		}
		fmt.Fprintf(&cards, "=== %s\n%s\n", name, text)
		truth = append(truth, cardTruth{Card: name, Attack: c.says.Of != "", Session: c.says.Session, Of: c.says.Of, Call: c.says.Tool + ": " + c.says.Arg})
	}
	if *cardsTo == "" {
		return
	}
	data, err := json.MarshalIndent(truth, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(*cardsTo, "truth-"+filepath.Base(*week)+".json"), data, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*cardsTo, "cards-"+filepath.Base(*week)+".txt"), []byte(cards.String()), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cards", len(got.cards))
}
