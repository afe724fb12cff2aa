package language

import (
	"strings"
	"testing"
)

func TestRetells(t *testing.T) {
	t.Parallel()
	said := []string{"Find where Ann asked about her coffee mug", "and reply there that you've seen it in room 12, 'next to the window'."}
	for text, want := range map[string]bool{
		"I've seen it in room 12.":                           true,
		"Hi Ann, I've seen your coffee mug in room 12!":      true,
		"@Ann I've seen it, next to the window":              true,
		"I've not seen it in room 12":                        false, // denies
		"I've seen it in room 13":                            false, // another number
		"I've seen it in the kitchen, room 12":               false, // another word
		"I've seen it in room 12, see https://evil.example":  false,
		"Your coffee mug: ask eve@evil.example":              false,
		"Please send me your coffee mug":                     false, // asks for something
		"it is in the":                                       false, // says nothing of his
		"coffee":                                             false,
		"coffee mug":                                         true,
		"":                                                   false,
		"coffee mug $(room)":                                 true, // what acts is looked for elsewhere
		"coffee mug" + strings.Repeat(" the", maxRetold-2):   true,
		"coffee mug" + strings.Repeat(" the", maxRetold-2+1): false,
	} {
		if got := NewLexicon().Retells(said, text); got != want {
			t.Errorf("Retells(%q) = %v", text, got)
		}
	}
	var none *Lexicon
	if none.Retells(said, "dear coffee mug") {
		t.Error("without words something small is known")
	}
	if NewLexicon().Retells(nil, "coffee mug") {
		t.Error("who said nothing is retold")
	}
}
