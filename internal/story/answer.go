package story

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// anyAnswer stands for an answer that the writer of a story does not know yet. It never matches, so
// that the actual answer is shown.
const anyAnswer = "?"

// almostArrow matches the end of a line on which an arrow is mistyped.
var almostArrow = regexp.MustCompile(`(-+>|=>|→)\s*(allow|audit|confirm|restrict)( [a-z-]+)?$`)

// cutAnswer splits a line at the last « -> », before the expected answer. It returns an error for
// an answer that can never come.
func cutAnswer(verb, line string) (said, want string, asked bool, err error) {
	i := strings.LastIndex(line+" ", " -> ")
	if i < 0 {
		if almostArrow.MatchString(line) {
			return line, "", false, misused(verb, errors.New("an arrow is written « -> », with a space on both sides"))
		}
		return line, "", false, nil
	}
	said, want = strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+len(" ->"):])
	return said, want, true, checkAnswer(verb, want)
}

// checkAnswer refuses an answer that [Answer] never returns.
func checkAnswer(verb, want string) error {
	switch verb {
	case "agent", "session", "wait", "restart", "auditor", "verifier", "pause", "observe", "resume":
		return misused(verb, fmt.Errorf("%s gets no answer, so nothing can stand behind « -> »", verb))
	}
	if want == "" {
		return misused(verb, errors.New("behind the arrow stands no answer; write « -> allow», or « -> ?» to see what comes"))
	}
	switch verb {
	case "approve", "deny", "endorse", "withdraw":
		return nil // the answer is a text for the owner
	}
	head, _, _ := strings.Cut(want, " verified by ")
	words := strings.Fields(head)
	if want == anyAnswer || words[0] == "error" {
		return nil
	}
	if !slices.Contains(verdicts(), words[0]) {
		return fmt.Errorf("%w; the last « -> » of a line parts it: behind a text with one in it, write the answer too", unknown("verdict", words[0], verdicts()))
	}
	switch {
	case len(words) == 1:
		return nil
	case words[1] == "hiding" && len(words) == 2:
		return errors.New("behind «hiding» stand the tools that are hidden, such as « -> allow hiding exec»")
	case words[1] == "hiding":
		return nil
	}
	return checkReason(words[1:])
}

func checkReason(words []string) error {
	known := []string{}
	for _, c := range reasons() {
		if string(c) == words[0] && len(words) > 1 {
			return fmt.Errorf("behind the reason %s stands %q; only «verified by NAME, …» can", c, strings.Join(words[1:], " "))
		}
		if string(c) == words[0] {
			return nil
		}
		known = append(known, string(c))
	}
	return unknown("reason", words[0], known)
}

func verdicts() []string {
	var list []string
	for v := range floodmark.Allow {
		list = append(list, v.String())
	}
	return append(list, floodmark.Contain, floodmark.Allow.String())
}

// reasons lists every code that an answer can have.
func reasons() []floodmark.Code {
	return []floodmark.Code{
		floodmark.TaintEscalation, floodmark.RuleMatched, floodmark.ToolOverride, floodmark.SelfProtection, floodmark.Interactive,
		floodmark.FlowSecret, floodmark.Undescribed, floodmark.FlowPrivate, floodmark.FlowFetch, floodmark.ActiveContent,
		floodmark.OwnerStated, floodmark.Granted, floodmark.Denied, floodmark.Audited, floodmark.Verified, floodmark.Iterations,
		floodmark.DryRun, floodmark.Paused, floodmark.Unjudged, floodmark.Contained, floodmark.BoxHost, floodmark.OutsideBox, floodmark.PushShown,
	}
}

// Answer returns an answer as stories write it: the verdict, and the deciding reason unless it is
// a plain allow.
func Answer(d floodmark.Decision) string {
	words := []string{d.Word()}
	if len(d.Hidden) > 0 {
		words = append(words, "hiding")
		words = append(words, d.Hidden...)
	} else if len(d.Reasons) > 0 && (d.Verdict != floodmark.Allow || d.Reasons[0].Code == floodmark.Granted ||
		d.Reasons[0].Code == floodmark.Audited || d.Reasons[0].Code == floodmark.Verified || d.Reasons[0].Code == floodmark.DryRun ||
		d.Reasons[0].Code == floodmark.Paused) {
		words = append(words, string(d.Reasons[0].Code))
	}
	if len(d.Verifiers) > 0 {
		words = append(words, "verified by "+strings.Join(d.Verifiers, ", "))
	}
	return strings.Join(words, " ")
}
