package verify

import (
	"strconv"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/report"
)

// Remedy returns what can be done about an answer that does not allow a call.
func Remedy(a floodmark.VerifierAnswered) floodmark.Remedy {
	return floodmark.Remedy{Agent: failureRemedy(a), Person: personsRemedy(a)}
}

// personsRemedy returns what the owner can do.
func personsRemedy(a floodmark.VerifierAnswered) string {
	switch FailureKind(a.Failure) {
	case "":
		return "It is for whoever runs that verifier to allow it."
	case Unconfigured:
		return "Describe it in service.yaml under «verifier» and switch it on, or take it out of the policy."
	case Deadline, Stopped, Unshowable, Crowded:
		return "There is nothing for you to do here."
	default:
		return "«floodmark doctor webhook» and «floodmark doctor telegram» show what is wrong."
	}
}

// AnswerText returns an answer in words. What a gate says is quoted: it is data.
func AnswerText(a floodmark.VerifierAnswered) string {
	name := "the verifier " + report.Visible(a.Verifier)
	switch {
	case a.Failure != "" && a.Verdict == floodmark.Allow:
		return name + " gave no answer (" + a.Text + "), and failMode lets the call pass then"
	case a.Failure != "":
		return name + " gave no answer: " + a.Text
	case a.Verdict == floodmark.Allow:
		return name + " allowed it"
	case a.Text == "":
		return name + " refused it"
	}
	return name + " refused it and said " + strconv.Quote(a.Text)
}

// failureRemedy returns what the agent can do.
func failureRemedy(a floodmark.VerifierAnswered) string {
	switch FailureKind(a.Failure) {
	case "":
		return "Do not try this again; finish the task without it and say what was left out."
	case Deadline:
		return "It is still being asked: try the same call again in a minute, and tell the owner that it takes long."
	case Unshowable:
		return "Make the call smaller: put less into its arguments."
	case Crowded:
		return "Make fewer calls at once: wait for those that are being asked about, then try this one again."
	default:
		return "Tell the owner that the verifier gave no answer, go on with what needs none, and try the same call again later."
	}
}
