package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/report"
)

// The result of an undescribed tool has the zero label, so it is treated as secret. This file tells
// such results from secrets that were found or declared. A call of such a tool, or one that could
// carry its result away, is not allowed for it. But where a real secret would be refused, a person
// is asked and told what is missing.

// unknown returns [floodmark.Undescribed] if the result of a call will count as secret only
// because its tool is not described.
func unknown(c hook.Call, j *judged) floodmark.Code {
	said := c.Hints != nil && c.Hints.Secrecy == floodmark.Secret.String()
	if j == nil || j.use.Profile != nil || j.use.PathKind == catalog.Secret || len(j.kept) > 0 || said {
		return ""
	}
	return floodmark.Undescribed
}

// judgedOf classifies a call again as its result tells it; nil if that cannot be read.
func (st *step) judgedOf(c hook.Call) *judged {
	leaves, err := c.Leaves()
	if err != nil {
		return nil
	}
	j := st.classified(c, leaves)
	return &j
}

// nameUndescribed says in the reasons against a call which tools are not described: those
// whose results count as secret, and the one that is called.
func nameUndescribed(j *judged) {
	reasons := slices.Clone(j.ruling.Reasons)
	for i, r := range reasons {
		if r.Code == floodmark.Undescribed {
			reasons[i].Text += " (" + report.Visible(strings.Join(j.question.Reach.Undescribed, ", ")) + ")"
		}
	}
	if j.basis.Undescribed && len(reasons) > 0 && reasons[0].Code == floodmark.TaintEscalation {
		reasons[0].Text = report.Visible(j.action.Tool.String()) + " is not described, so it counts as a program that may do anything, and " + reasons[0].Text
	}
	j.ruling.Reasons = reasons
}

// describing says what the owner can do if a call is held because tools are not described.
func (j *judged) describing() string {
	var tools []string
	for _, r := range j.decision.Reasons {
		if r.Code == floodmark.Undescribed {
			tools = slices.Clone(j.question.Reach.Undescribed)
		}
	}
	if j.basis.Undescribed && j.action.Kind == floodmark.CallTool {
		tools = addNew(tools, j.action.Tool.String())
	}
	return meaning.Describe(tools)
}
