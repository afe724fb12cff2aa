package telemetry

// The part of OCSF 1.8 that we write: a Detection Finding with the profiles ai_operation and
// security_control. The names are the schema's. No field contains content, and all texts are our
// own.

// The identifiers of the schema.
const (
	ocsfVersion       = "1.8.0"
	categoryFindings  = 2
	classDetection    = 2004
	activityCreate    = 1
	activityClose     = 3
	severityInfo      = 1
	severityLow       = 2
	severityMedium    = 3
	severityHigh      = 4
	statusNew         = 1
	statusResolved    = 4
	actionUnknown     = 0
	actionAllowed     = 1
	actionDenied      = 2
	dispositionBlock  = 2
	dispositionYes    = 8  // Approved
	dispositionSeen   = 15 // Detected
	dispositionRevoke = 24 // Access Revoked
	dispositionNo     = 25 // Rejected
	roleAgent         = 4
	analyticRule      = 1
)

// A finding is one security event, which is one line of the file.
type finding struct {
	ActivityID    int             `json:"activity_id"`
	CategoryUID   int             `json:"category_uid"`
	ClassUID      int             `json:"class_uid"`
	TypeUID       int             `json:"type_uid"`
	Time          int64           `json:"time"` // milliseconds since 1970
	SeverityID    int             `json:"severity_id"`
	StatusID      int             `json:"status_id"`
	ActionID      int             `json:"action_id"`
	DispositionID int             `json:"disposition_id"`
	IsAlert       bool            `json:"is_alert"`
	Message       string          `json:"message"`
	Metadata      metadata        `json:"metadata"`
	FindingInfo   findingInfo     `json:"finding_info"`
	Context       *messageContext `json:"message_context,omitempty"`
	Resources     []resourceInfo  `json:"resources,omitempty"`
	Unmapped      *unmapped       `json:"unmapped,omitempty"`
}

type metadata struct {
	Version  string   `json:"version"`
	Profiles []string `json:"profiles"`
	Product  product  `json:"product"`
	// UID is the position of the fact in the journal, where the details are.
	UID      string `json:"uid,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"`
	Tenant   string `json:"tenant_uid,omitempty"`
}

type product struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor_name"`
	Version string `json:"version"`
}

type findingInfo struct {
	UID      string    `json:"uid"`
	Title    string    `json:"title"`
	Types    []string  `json:"types"`
	Analytic *analytic `json:"analytic,omitempty"`
}

type analytic struct {
	Name   string `json:"name"`
	UID    string `json:"uid,omitempty"`
	TypeID int    `json:"type_id"`
}

// A messageContext identifies the session and the agent.
type messageContext struct {
	UID         string      `json:"uid"`
	RoleID      int         `json:"ai_role_id"`
	Application application `json:"application"`
}

type application struct {
	Name string `json:"name"`
}

type resourceInfo struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Group string `json:"namespace,omitempty"` // the tool's server
}

// An unmapped holds the fields that are not in the schema.
type unmapped struct {
	Verdict string `json:"floodmark.verdict,omitempty"`
	Effect  string `json:"floodmark.effect,omitempty"`
	Trust   string `json:"floodmark.mark.trust,omitempty"`
	Secrecy string `json:"floodmark.mark.secrecy,omitempty"`
	Call    string `json:"floodmark.call,omitempty"`
	Digest  string `json:"floodmark.digest,omitempty"`
	Would   string `json:"floodmark.would,omitempty"`
}
