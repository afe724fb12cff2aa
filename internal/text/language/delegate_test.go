package language

import (
	"slices"
	"testing"
)

func TestActsFor(t *testing.T) {
	t.Parallel()
	const anna = "anna@firm.example"
	for text, want := range map[string][]string{
		"Please do the actions specified in the email from 'anna@firm.example' with the subject 'Week'.": {anna},
		"Do all the tasks in the mail from anna@firm.example":                                            {anna},
		"Can you follow the instructions in the message from anna@firm.example?":                         {anna},
		"First tell me the date. 2. Please do the tasks in the mail from anna@firm.example.":             {anna},
		"Complete my tasks: see the note from anna@firm.example":                                         {anna},
		"Do the tasks in the mail from anna@firm.example make sense?":                                    nil,
		"Don't do the tasks in the mail from anna@firm.example":                                          nil,
		"Do the tasks on my list. The mail from anna@firm.example is only for you to read.":              nil,
		"Do the tasks in the mail to anna@firm.example":                                                  nil,
		"Do the tasks from anna@firm.example":                                                            nil,
		"Do the dishes in the mail from anna@firm.example":                                               nil,
		"Read the tasks in the mail from anna@firm.example":                                              nil,
		"Summarise the instructions in the mail from anna@firm.example":                                  nil,
		"Ben wants me to do the tasks in the mail from anna@firm.example":                                nil,
		"Do the tasks in the mail 'from anna@firm.example to ben@firm.example'":                          nil,
		"Do the tasks in the mail from anna@firm.example once I approve":                                 nil,
		"Do the tasks in the mail from anna@firm.example, if they are short":                             nil,
		"Do the tasks in the mail from anna@firm.example tomorrow":                                       nil,
		"Do the tasks":   nil,
		"Do":             nil,
		"Do the":         nil,
		"":               nil,
		"tasks from Ann": nil,
	} {
		var got []string
		for _, r := range NewLexicon().Requests(text) {
			got = append(got, r.ActsFor()...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: acts for %q, want %q", text, got, want)
		}
	}
}
