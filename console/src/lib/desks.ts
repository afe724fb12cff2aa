// What the pages Rules and «What it did» ask of the daemon: messages and calls of
// api/floodmark/v1/console.proto. Every field may be missing, as in types.ts.

import { call, stream } from './api';
import type { Count, Problem, Time } from './types';

export interface RulesFile { path?: string; text?: string; digest?: string; locked?: string; problems?: Problem[]; missing?: boolean }
export interface RulesVersion { id?: string; at?: Time; by?: string; digest?: string; bytes?: Count; missing?: boolean }
export interface RulesResponse { files?: RulesFile[]; versions?: RulesVersion[]; schema?: string; versionText?: string; profile?: string; inForce?: string; table?: RulesRow[] }
export interface RulesRow { effect?: string; cells?: { trust?: string; verdict?: string }[] }
export interface CheckRulesResponse { problems?: Problem[]; errors?: number }
export interface RulesDifference {
  decision?: string; session?: string; at?: Time; what?: string; was?: string; would?: string; line?: string; rule?: string; text?: string; looser?: boolean; why?: string;
}
export interface RulesTrial {
  sessions?: Count; decisions?: Count; same?: Count; changed?: Count; cannotTell?: Count; tasks?: Count; questionsWas?: Count; questionsWould?: Count;
  looser?: Count; stricter?: Count; differences?: RulesDifference[]; more?: Count; unread?: Count; since?: Time; stopped?: string; reached?: Time;
}
export interface TryRulesResponse { done?: boolean; trial?: RulesTrial; problems?: Problem[] }
export interface SaveRulesResponse { refused?: string; problems?: Problem[]; file?: RulesFile; loaded?: boolean }
export interface StoryOfResponse { name?: string; text?: string; plays?: boolean; notes?: string[] }

export interface DidChannel { channel?: string; yes?: Count; no?: Count }
export interface DidDay { day?: string; asked?: Count; stopped?: Count; contained?: Count }
export interface DidCost { name?: string; questions?: Count; sessions?: Count; line?: string; key?: string; kind?: string; saves?: Count; why?: string }
export interface DidDeed { fate?: string; what?: string; why?: string; behind?: string[]; secret?: boolean; would?: boolean; times?: Count; session?: string; last?: Time }
export interface DidAgent { agent?: string; sessions?: Count; decisions?: Count; last?: Time; unseen?: Count }
export interface DidGroup { name?: string; yours?: boolean }
export interface DidResponse {
  since?: Time; until?: Time; sessions?: Count; decisions?: Count; stopped?: Count; contained?: Count; containedFailed?: Count; asked?: Count; yes?: Count; no?: Count;
  expired?: Count; voided?: Count; waiting?: Count; tasks?: Count; channels?: DidChannel[]; days?: DidDay[]; sources?: DidCost[]; tools?: DidCost[]; projects?: DidCost[];
  deeds?: DidDeed[]; agents?: DidAgent[]; stoppedEarly?: string; unread?: Count; groups?: DidGroup[];
}

export interface SearchDecisionsRequest {
  words?: string; verdict?: string; answered?: string; by?: string; agent?: string; since?: Time; until?: Time; limit?: number; after?: string; afterAt?: Time; writtenBefore?: Time; group?: string;
}
export interface FoundDecision {
  decision?: string; at?: Time; session?: string; number?: Count; agent?: string; project?: string; what?: string; verdict?: string; would?: string; why?: string; behind?: string[];
  answer?: string; by?: string; channel?: string; answered?: Time;
}
export interface SearchDecisionsResponse { found?: FoundDecision[]; sessions?: Count; done?: boolean; more?: boolean; stopped?: string; reached?: Time; unread?: Count }

export interface ProtectedAgent { name?: string; connected?: boolean; proof?: string; tried?: Time; boxes?: boolean; why?: string }
export interface ProtectionLevel { trust?: string; observe?: string; fetch?: string; write?: string; change?: string; send?: string; run?: string; admin?: string }
export interface ProtectionResponse { agents?: ProtectedAgent[]; unknown?: string; boxHolds?: boolean; gatewayServers?: number; levels?: ProtectionLevel[] }

const desk = 'ConsoleService/';

export const rules = (r: { schema?: boolean; version?: string } = {}): Promise<RulesResponse> => call(`${desk}Rules`, r);
export const check = (text: string, signal: AbortSignal): Promise<CheckRulesResponse> => call(`${desk}CheckRules`, { text }, signal);
export const tryRules = (text: string, days: number, signal: AbortSignal): AsyncGenerator<TryRulesResponse> => stream(`${desk}TryRules`, { text, days }, signal);
export const save = (text: string, read: string): Promise<SaveRulesResponse> => call(`${desk}SaveRules`, { text, read });
export const rollBack = (version: string, read: string): Promise<SaveRulesResponse> => call(`${desk}RollBackRules`, { version, read });
export const storyOf = (of: string): Promise<StoryOfResponse> => call(`${desk}StoryOf`, { of });
export const did = (days: number, group: string, signal: AbortSignal): Promise<DidResponse> => call(`${desk}Did`, { days, group }, signal);
export const search = (r: SearchDecisionsRequest, signal: AbortSignal): AsyncGenerator<SearchDecisionsResponse> => stream(`${desk}SearchDecisions`, r, signal);
export const protection = (signal: AbortSignal): Promise<ProtectionResponse> => call(`${desk}Protection`, {}, signal);

/** said is an error in words. */
export const said = (e: unknown): string => (e instanceof Error ? e.message : String(e));
