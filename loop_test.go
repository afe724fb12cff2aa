package floodmark

import (
	"maps"
	"reflect"
	"strings"
	"testing"
)

// All fields of a Loop are shown, also fields that are added later.
func TestALoopShowsAllItSays(t *testing.T) {
	l := Loop{
		Model: "m\n1", TokenEstimate: 1, TokenUsage: TokenUsage{Input: 2, Output: 3}, LatencyMs: 4, PendingToolResults: 5,
		MessageCount: 6, ToolCallsMade: 7, NewMessagesAdded: 8, WillContinue: true, SessionKey: strings.Repeat("k", 200), Channel: "c",
	}
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("this test says nothing of %s", v.Type().Field(i).Name)
		}
	}
	got := maps.Collect(l.Words())
	if len(got) != v.NumField()+1 { // TokenUsage has two numbers
		t.Errorf("%d fields are shown as %v", v.NumField(), got)
	}
	if got["model"] != "m 1" || len(got["sessionKey"]) > maxLoopText || got["tokenUsage.output"] != "3" || got["willContinue"] != "true" {
		t.Errorf("shown as %v", got)
	}
	for range l.Words() { // yield is not called again after it returned false
		break
	}
	if n := len(maps.Collect(Loop{}.Words())); n != 0 {
		t.Errorf("a loop that says nothing shows %d words", n)
	}
}
