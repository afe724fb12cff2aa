// The page that the address names: `#/session/ID`.

export const route = $state({ page: '', rest: '' });

/** read takes the address apart. An address that cannot be read names no page. */
export function read(hash: string): { page: string; rest: string } {
  const [, page = '', rest = ''] = /^#\/([a-z]*)(?:\/(.*))?$/.exec(hash) ?? [];
  try {
    return { page, rest: decodeURIComponent(rest) };
  } catch {
    return { page: '', rest: '' };
  }
}

export function start(): void {
  const take = (): void => void Object.assign(route, read(location.hash));
  addEventListener('hashchange', take);
  take();
}

/** to is the address of a page. A half of a character, which no address can hold, becomes U+FFFD. */
export const to = (page: string, rest = ''): string => `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest.replace(/\p{Surrogate}/gu, '\ufffd'))}`}`;
