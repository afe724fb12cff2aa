package intent

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/language"
)

func readingBy(words *language.Lexicon, rs *Readings) *Session {
	return &Session{Words: words, Read: rs}
}

// Readings change no result, whatever was read before.
func TestReadingsGiveWhatReadingAgainGives(t *testing.T) {
	words, rs := language.NewLexicon(), &Readings{}
	verbs := []string{"send", "mail"}
	for round := range 3 {
		for i, text := range []string{"mail it to anna@firm.example", "don't send it", "yes", "", "send 7 coins to Bob", "mail it to eve@firm.example", "yes please"} {
			with, without := readingBy(words, rs), readingBy(words, nil)
			if with.assents(text) != without.assents(text) || with.assents(text) != words.Assents(text) {
				t.Errorf("round %d, %q: assents otherwise", round, text)
			}
			if !reflect.DeepEqual(with.statedIn([]string{text}), without.statedIn([]string{text})) {
				t.Errorf("round %d, %q: states something else", round, text)
			}
			a, b := with.asks([]string{text}, verbs), without.asks([]string{text}, verbs)
			if len(a.wanted) != len(b.wanted) || len(a.ruledOut) != len(b.ruledOut) || len(with.requests(text)) != len(words.Requests(text)) {
				t.Errorf("round %d, message %d: %d and %d are asked for, want %d and %d", round, i, len(a.wanted), len(a.ruledOut), len(b.wanted), len(b.ruledOut))
			}
		}
	}
}

// Two messages together state what each states, and the remembered reading of one is not changed.
func TestReadingsAreNotAddedTo(t *testing.T) {
	st := readingBy(language.NewLexicon(), &Readings{})
	one := st.statedIn([]string{"mail anna@firm.example"})
	two := st.statedIn([]string{"mail anna@firm.example", "and bob@firm.example"})
	if !two.Has("bob@firm.example", 0, "to") || !two.Has("anna@firm.example", 0, "to") {
		t.Error("something that was said is not stated")
	}
	if one.Has("bob@firm.example", 0, "to") || st.statedIn([]string{"mail anna@firm.example"}).Has("bob@firm.example", 0, "to") {
		t.Error("a message states what another said")
	}
}

func TestReadingsAreBounded(t *testing.T) {
	words, rs := language.NewLexicon(), &Readings{}
	st := readingBy(words, rs)
	for i := range 3 * maxReadings {
		st.requests(fmt.Sprint("mail page ", i, " to anna@firm.example"))
	}
	if len(rs.texts) != maxReadings || rs.Size() <= 0 {
		t.Errorf("%d readings of %d bytes, want %d", len(rs.texts), rs.Size(), maxReadings)
	}
	before := rs.Size()
	st.requests(strings.Repeat("a", MaxRead+1))
	if rs.Size() != before {
		t.Error("a long message is remembered")
	}
	st.requests(strings.Repeat("a", MaxRead))
	if rs.Size() == before {
		t.Error("a message as long as may be is not remembered")
	}
	readingBy(language.NewLexicon(), rs).requests("mail it")
	if len(rs.texts) != 1 {
		t.Errorf("under other words %d readings are left, want the new one", len(rs.texts))
	}
}
