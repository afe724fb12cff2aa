// Bytes of files, as the daemon sends them.

/** text reads bytes in base64 as text; undefined if they are none. */
export function text(base64: string | undefined): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64 ?? ''), (c) => c.charCodeAt(0));
    const s = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return s.includes('\u0000') ? undefined : s;
  } catch {
    return undefined;
  }
}
