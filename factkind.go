package floodmark

func (SessionOpened) factKind() string    { return "session-opened" }
func (SessionForked) factKind() string    { return "session-forked" }
func (SessionClosed) factKind() string    { return "session-closed" }
func (RulesLoaded) factKind() string      { return "rules-loaded" }
func (ContextCleared) factKind() string   { return "context-cleared" }
func (TurnOpened) factKind() string       { return "turn-opened" }
func (TurnClosed) factKind() string       { return "turn-closed" }
func (IterationOpened) factKind() string  { return "iteration-opened" }
func (LoopTold) factKind() string         { return "loop-told" }
func (ContentSeen) factKind() string      { return "content-seen" }
func (ContentArrived) factKind() string   { return "content-arrived" }
func (ModelAnswered) factKind() string    { return "model-answered" }
func (ActionDecided) factKind() string    { return "action-decided" }
func (OpinionGiven) factKind() string     { return "opinion-given" }
func (VerifierAnswered) factKind() string { return "verifier-answered" }
func (CallFollowed) factKind() string     { return "call-followed" }
func (ChildSpawned) factKind() string     { return "child-spawned" }
func (ChildEnded) factKind() string       { return "child-ended" }
func (ArtifactRead) factKind() string     { return "artifact-read" }
func (ArtifactWritten) factKind() string  { return "artifact-written" }
func (ArtifactSettled) factKind() string  { return "artifact-settled" }
func (ArtifactsKept) factKind() string    { return "artifacts-kept" }
func (FilesCleaned) factKind() string     { return "files-cleaned" }
func (Endorsed) factKind() string         { return "endorsed" }
func (Withdrawn) factKind() string        { return "withdrawn" }
func (IncidentSeen) factKind() string     { return "incident-seen" }
func (TicketOpened) factKind() string     { return "ticket-opened" }
func (TicketExtended) factKind() string   { return "ticket-extended" }
func (TicketCounted) factKind() string    { return "ticket-counted" }
func (TicketRefused) factKind() string    { return "ticket-refused" }
func (TicketAnswered) factKind() string   { return "ticket-answered" }
func (GrantGiven) factKind() string       { return "grant-given" }
func (GrantUsed) factKind() string        { return "grant-used" }
func (GrantEnded) factKind() string       { return "grant-ended" }
func (PauseBegan) factKind() string       { return "pause-began" }
func (PauseEnded) factKind() string       { return "pause-ended" }

// KindOf returns the word for f's kind on disk.
func KindOf(f Fact) string {
	if f == nil {
		return ""
	}
	return f.factKind()
}
