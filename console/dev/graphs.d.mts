import type { SessionGraphResponse } from '../src/lib/types';

export function graphOf(many: number, now?: number, session?: string): SessionGraphResponse;
