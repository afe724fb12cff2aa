package telemetry

import (
	"strconv"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// The types of security events.
const (
	typeRefused  = "call-refused"
	typeAsked    = "call-asked"
	typeIncident = "incident"
	typeApproved = "question-approved"
	typeDenied   = "question-denied"
	typeVoided   = "question-voided"
	typeEndorsed = "content-endorsed"
	typeWithdrew = "endorsement-withdrawn"
	typePolicy   = "policy-refused"
)

// An eventType is the fixed part of one kind of security event.
type eventType struct {
	title                                           string
	activity, severity, status, action, disposition int
}

// eventTypes returns all types of security events.
func eventTypes() map[string]eventType {
	return map[string]eventType{
		typeRefused:  {"An agent's action was refused", activityCreate, severityMedium, statusNew, actionDenied, dispositionBlock},
		typeAsked:    {"An agent's action waits for a person", activityCreate, severityLow, statusNew, actionDenied, dispositionBlock},
		typeIncident: {"Something happened that should not be possible", activityCreate, severityHigh, statusNew, actionUnknown, dispositionSeen},
		typeApproved: {"A person approved what an agent asked for", activityClose, severityInfo, statusResolved, actionAllowed, dispositionYes},
		typeDenied:   {"A person denied what an agent asked for", activityClose, severityLow, statusResolved, actionDenied, dispositionNo},
		typeVoided:   {"A question was closed without an answer", activityClose, severityLow, statusResolved, actionDenied, dispositionNo},
		typeEndorsed: {"The owner vouched for content", activityCreate, severityInfo, statusResolved, actionAllowed, dispositionYes},
		typeWithdrew: {"The owner no longer vouches for content", activityCreate, severityInfo, statusResolved, actionDenied, dispositionRevoke},
		typePolicy:   {"A new policy is wrong, and the old one stays", activityCreate, severityMedium, statusNew, actionDenied, dispositionNo},
	}
}

// newFinding returns a security event with the fixed fields of its type.
func newFinding(kind, version string, at time.Time, uid string) finding {
	t := eventTypes()[kind]
	return finding{
		ActivityID: t.activity, CategoryUID: categoryFindings, ClassUID: classDetection, TypeUID: classDetection*100 + t.activity,
		Time: at.UnixMilli(), SeverityID: t.severity, StatusID: t.status, ActionID: t.action, DispositionID: t.disposition,
		IsAlert: t.severity >= severityMedium, Message: t.title,
		Metadata: metadata{
			Version: ocsfVersion, Profiles: []string{"ai_operation", "security_control"},
			Product: product{Name: "Floodmark", Vendor: "Floodmark", Version: version},
		},
		FindingInfo: findingInfo{UID: uid, Title: t.title, Types: []string{kind}},
	}
}

func policyRefused(version string, at time.Time) finding {
	return newFinding(typePolicy, version, at, "policy:"+strconv.FormatInt(at.UnixNano(), 10))
}

// eventOf returns the security event of a fact. It returns false if the fact is not one.
func eventOf(version string, s *seen, e *journal.Entry, f told, w who) (finding, bool) {
	place := w.session + ":" + strconv.FormatUint(e.Seq, 10)
	begin := func(kind, uid string) finding {
		ev := newFinding(kind, version, e.Time(), uid)
		ev.Metadata.UID, ev.Metadata.Sequence, ev.Metadata.Tenant = place, e.Seq, w.tenant
		agent := w.agent
		if agent == "" {
			agent = other
		}
		ev.Context = &messageContext{UID: w.session, RoleID: roleAgent, Application: application{agent}}
		ev.Unmapped = &unmapped{Trust: s.mark.Trust.String(), Secrecy: s.mark.Secrecy.String()}
		return ev
	}
	switch f := f.(type) {
	case *decided:
		return decidedEvent(s, f, place, begin)
	case *incident:
		ev := begin(typeIncident, place)
		ev.FindingInfo.Analytic = &analytic{Name: f.Kind, TypeID: analyticRule}
		ev.Unmapped.Call = f.Call
		ev.Resources = toolResource(f.Tool)
		return ev, true
	case *replied:
		kind := map[floodmark.Verdict]string{floodmark.Allow: typeApproved, floodmark.Restrict: typeDenied}[f.Verdict]
		if kind == "" {
			kind = typeVoided
		}
		return begin(kind, string(f.Ticket)), true
	case *vouched:
		kind := typeEndorsed
		if f.back {
			kind = typeWithdrew
		}
		ev := begin(kind, place)
		ev.Unmapped.Digest = f.Digest.String()
		return ev, true
	case *opened, *closed, *turn, *answer, *loop, *spawned, *announced, *arrived, *asked, *guessed, *granted, *used, *opined:
	}
	return finding{}, false
}

// decidedEvent returns the event of an action that was refused or asked about. It returns false for
// any other, and if the decision waits for the auditor, because the auditor's result leads to a
// decision of its own.
func decidedEvent(s *seen, d *decided, place string, begin func(kind, uid string) finding) (finding, bool) {
	kind, uid := typeRefused, place
	switch {
	case d.Decision.Would == "restrict" || d.Decision.Would == "" && d.Decision.Verdict == floodmark.Restrict:
	case d.Decision.Would == "confirm" || d.Decision.Would == "" && d.Decision.Verdict == floodmark.Confirm:
		kind = typeAsked
		if s.ticket != "" {
			uid = string(s.ticket) // the answer closes the same finding
		}
	default:
		return finding{}, false
	}
	ev := begin(kind, uid)
	if d.Decision.Would != "" { // the decision was not enforced
		ev.ActionID, ev.DispositionID = actionAllowed, dispositionSeen
	}
	if len(d.Decision.Reasons) > 0 {
		r := d.Decision.Reasons[0]
		ev.FindingInfo.Analytic = &analytic{Name: string(r.Code), UID: r.Rule, TypeID: analyticRule}
	}
	ev.Resources = toolResource(d.Action.Tool)
	ev.Unmapped = &unmapped{
		Verdict: d.word(), Effect: d.effect(), Trust: d.Mark.Trust.String(), Secrecy: d.Mark.Secrecy.String(),
		Call: d.Action.Call, Would: knownVerdict(d.Decision.Would),
	}
	return ev, true
}

// knownVerdict returns a verdict's word, or "" if it is not known.
func knownVerdict(word string) string {
	if _, err := floodmark.ParseVerdict(word); err != nil && word != floodmark.Contain {
		return ""
	}
	return word
}

func toolResource(t tool) []resourceInfo {
	if t.Name == "" {
		return nil
	}
	return []resourceInfo{{Name: t.Name, Type: "tool", Group: t.Server}}
}
