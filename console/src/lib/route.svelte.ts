// The page that the address names: `#/session/ID`, or `#/session/ID?at=7` for a place on it.

export const route = $state({ page: '', rest: '', at: 0 });

/** read takes the address apart. An address that cannot be read names no page. */
export function read(hash: string): { page: string; rest: string; at: number } {
  const [, page = '', rest = '', at = '0'] = /^#\/([a-z]*)(?:\/(.*?))?(?:\?at=(\d{1,15}))?$/.exec(hash) ?? [];
  try {
    return { page, rest: decodeURIComponent(rest), at: Number(at) };
  } catch {
    return { page: '', rest: '', at: 0 };
  }
}

export function start(): void {
  const take = (): void => void Object.assign(route, read(location.hash));
  addEventListener('hashchange', take);
  take();
}

/** to is the address of a page, or of a numbered place on it. A half of a character, which no address can hold, becomes U+FFFD. */
export const to = (page: string, rest = '', at = 0): string =>
  `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest.replace(/\p{Surrogate}/gu, '\ufffd'))}`}${at > 0 ? `?at=${at}` : ''}`;
