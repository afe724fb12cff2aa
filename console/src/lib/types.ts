// Messages of api/floodmark/v1/*.proto as JSON has them: camelCase, 64-bit numbers as strings,
// and no field that has its zero value. So every field may be missing.

export type Time = string;
export type Count = string | number;

export interface Label { trust?: string; secrecy?: string }
export interface ToolRef { agent?: string; server?: string; name?: string }
export interface Origin { kind?: string; name?: string; server?: string; place?: string; sender?: string; isOwner?: boolean; group?: string }
export interface Span { node?: number; offset?: number }
export interface Argument { path?: string; role?: string; whence?: string; trust?: string; spans?: Span[]; shown?: string; pieced?: boolean }
export interface Action { kind?: string; call?: string; tool?: ToolRef; effects?: string[]; arguments?: Argument[]; argsDigest?: string; tools?: string[]; iteration?: number; audience?: string; child?: string }
export interface Source { node?: number; kind?: string; origin?: Origin; label?: Label; digest?: string; inputs?: number[]; whole?: boolean; call?: string }
export interface Reason { code?: string; rule?: string; text?: string; verdict?: string }
export interface Remedy { agent?: string; person?: string }
export interface Decision { verdict?: string; hidden?: string[]; reasons?: Reason[]; blame?: number[]; remedy?: Remedy; verifiers?: string[]; would?: string; reach?: string }
export interface BoxRun { end?: string; failed?: boolean; exit?: number; wanted?: string[]; notKept?: string[]; command?: string; line?: string }
export interface Decided { id?: string; at?: Time; action?: Action; mark?: Label; trust?: string; decision?: Decision; box?: BoxRun }
export interface Explanation { decision?: string; at?: Time; verdict?: string; line?: string; sources?: string[]; arguments?: string[]; actions?: string[]; reasons?: string[]; remedies?: string[]; followed?: string[]; box?: BoxRun }

export interface Session {
  id?: string; agent?: string; project?: string; parent?: string; mark?: Label; opened?: Time; written?: Time; facts?: Count; closed?: boolean;
  decisions?: Count; stopped?: Count; pending?: Count; incidents?: Count; problem?: string; asked?: Count; boxed?: Count; boxFailed?: Count;
  last?: Decided; inVain?: Decided[];
}

export interface Question {
  ticket?: string; session?: string; agent?: string; asked?: Time; expires?: Time; calls?: AskedCall[]; code?: string; held?: Time;
  two?: boolean; approvedBy?: string; seen?: string; over?: boolean;
}
export interface AskedCall {
  action?: Action; line?: string; sources?: Source[]; pattern?: string; mark?: Label; codes?: string[]; offers?: Offer[]; pick?: Pick;
  source?: string; consequence?: string; asked?: string; card?: string[]; what?: string; why?: string; more?: boolean; lost?: number;
  quotes?: Quote[]; diff?: string[]; trustable?: string;
}
export interface Quote { words?: string; of?: string; argument?: string; trust?: string; at?: Count; pieced?: boolean }
export interface Offer { words?: string; scope?: string; pattern?: string; minutes?: number }
export interface Pick { argument?: string; among?: string[]; words?: string }
export interface Answered { ticket?: string; verdict?: string; by?: string; channel?: string }
export interface Grant { ticket?: string; session?: string; scope?: string; tool?: ToolRef; argsDigest?: string; pattern?: string; mark?: Label; turn?: number; until?: Time; agent?: string; trigger?: string; job?: string }
export interface Endorsement { digest?: string; trust?: string; by?: string }
export interface Incident { kind?: string; call?: string; tool?: ToolRef; text?: string; at?: Time }
export interface Problem { file?: string; line?: number; column?: number; severity?: string; code?: string; text?: string; hint?: string }
export interface Pause { session?: string; from?: Time; until?: Time; by?: string; observe?: boolean }
export interface PauseSummary { pause?: Pause; why?: string; asked?: Count; refused?: Count; lines?: string[] }
export interface PolicyStatus { profile?: string; files?: string[]; digest?: string; loaded?: Time; problems?: Problem[]; dryRun?: boolean; bundle?: string }

export interface StatusResponse {
  version?: string; started?: Time; policy?: PolicyStatus; engine?: string; place?: string; sessions?: Count; warm?: Count; pending?: Count; incidents?: Count;
  mode?: string; warnings?: string[]; tenant?: string; pauses?: Pause[]; quiet?: string; fleet?: string; caller?: string; may?: string[]; ends?: Time; nodes?: string; boxedToday?: Count;
}
export interface SessionsRequest { limit?: number; agent?: string; open?: boolean }
export interface SessionsResponse { sessions?: Session[]; more?: boolean }
export interface ShowRequest { session: string; facts?: boolean }
export interface ShowResponse {
  session?: Session; sources?: Source[]; decisions?: Decided[]; pending?: Question[]; grants?: Grant[]; endorsements?: Endorsement[]; incidents?: Incident[];
}
export interface WhyResponse { explanations?: Explanation[]; session?: Session }
export interface PendingResponse { questions?: Question[]; unread?: string[] }
export interface AnswerRequest { verb: 'approve' | 'deny'; session: string; ticket: string; calls: number; offer?: number; picked?: string; seen?: string }
export interface AnswerResponse { answered?: boolean; notice?: string }
export interface EndorseResponse { done?: boolean; notice?: string; mark?: Label }
export interface WatchResponse {
  at?: Time; session?: string; agent?: string; missed?: Count;
  decided?: Decided; asked?: Question; answered?: Answered; incident?: Incident; paused?: Pause; resumed?: PauseSummary; boxed?: Decided;
}

/** A session as data for a drawing: SessionGraph of the console's service. */
export interface SessionGraphRequest { session: string; limit?: number }
export interface SessionGraphResponse { nodes?: GraphNode[]; edges?: GraphEdge[]; paths?: GraphPath[]; all?: Count; left?: Count; collapsed?: boolean }
export interface GraphNode {
  id?: string; kind?: string; name?: string; origin?: string; trust?: string; secrecy?: string; turn?: number; line?: string; verdict?: string; reason?: string;
  decision?: string; digest?: string; count?: number; at?: Time;
}
export interface GraphEdge { from?: string; to?: string; kind?: string; argument?: string }
export interface GraphPath { call?: string; nodes?: string[]; sentence?: string }

export interface UndoRequest { session?: string; call?: string; dryRun?: boolean; only?: boolean; beside?: boolean }
export interface UndoResponse { calls?: Undone[]; done?: boolean; lines?: string[] }
export interface Undone {
  session?: string; call?: string; command?: string; project?: string; time?: Time; files?: number; unkept?: string; given?: string[]; refused?: UndoRefused[];
  done?: boolean; beside?: string[];
}
export interface UndoRefused { path?: string; why?: string }
export interface LeftoversRequest { folder: string; contents?: boolean; paths?: string[] }
export interface LeftoversResponse { list?: string; folder?: string; stays?: Staying[]; more?: Count; files?: ShownFile[] }
export interface Staying { path?: string; why?: string }
/** old and new are bytes in base64. */
export interface ShownFile { path?: string; old?: string; commit?: string; new?: string; digest?: string; session?: string; source?: string }
