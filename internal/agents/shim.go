package agents

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// The answers that a shim inside an agent carries out literally. Every approval is explicit, so
// that an empty answer is a denial.
type (
	shimCall struct {
		Block  bool   `json:"block"`
		Reason string `json:"reason,omitempty"`
		// Command is run instead of the call's own command. Block is set with it, so that a shim
		// that does not know Command blocks the call.
		Command string `json:"command,omitempty"`
	}
	shimSays struct {
		Action string `json:"action"`
		Notice string `json:"notice,omitempty"` // shown to the person
	}
	shimWithheld struct {
		Withhold string `json:"withhold"` // shown in place of what a tool gave
	}
	shimKeeps struct {
		Keep bool `json:"keep"`
	}
)

// oldShim tells the model that the shim is older than this monitor.
const oldShim = "floodmark: this may only run as another command, which the plugin in this agent cannot do yet. Ask the person to run «floodmark protect» again and to restart the agent."

// tells returns an answer for a shim, as JSON.
func tells(v any) hookframe.Response {
	return hookframe.Response{V: hookframe.Version, Stdout: object(v)}
}

// call returns the answer to a tool call: it runs, or it does not.
func (a answer) call() shimCall {
	switch {
	case a.why == "" && a.args != nil:
		return shimCall{Block: true, Reason: oldShim, Command: a.reply.Command}
	case a.why == "":
		return shimCall{}
	}
	return shimCall{Block: true, Reason: a.reason()}
}

// said returns the answer to a message: it is passed to the model, or withheld.
func (a answer) said() shimSays {
	switch {
	case a.why != "":
		return shimSays{Action: "handled", Notice: a.reason()}
	case a.reply.Consumed:
		return shimSays{Action: "handled", Notice: "floodmark: " + floodmark.OneLine(a.reply.Notice, maxReason)}
	}
	return shimSays{Action: "continue"}
}

// shown returns the answer to a result: it stays, or is withheld.
func (a answer) shown() hookframe.Response {
	if a.why != "" {
		return tells(shimWithheld{Withhold: a.reason()})
	}
	return a.kept()
}

// kept returns the answer to any other report. A refusal is a failure of the hook there.
func (a answer) kept() hookframe.Response {
	if a.why != "" {
		return hookframe.Response{V: hookframe.Version, Stderr: a.reason() + "\n", Exit: hookframe.Refused}
	}
	return tells(shimKeeps{Keep: true})
}
