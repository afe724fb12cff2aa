// The little of Node that is used here, so that compiling needs no other package.

declare module "node:http" {
  export interface Response {
    statusCode?: number;
    complete: boolean;
    on(event: "data", f: (chunk: Uint8Array) => void): void;
    on(event: "end" | "aborted", f: () => void): void;
    on(event: "error", f: (err: Error) => void): void;
  }
  export interface Request {
    on(event: "error", f: (err: Error) => void): void;
    destroy(): void;
    end(body: Uint8Array): void;
  }
  export function request(options: object, f: (response: Response) => void): Request;
}

declare module "node:https" {
  export { request } from "node:http";
}

declare module "node:crypto" {
  export function randomUUID(): string;
}

declare module "node:path" {
  export function isAbsolute(path: string): boolean;
}

declare function setTimeout(f: () => void, ms: number): unknown;
declare function clearTimeout(timer: unknown): void;

declare class TextEncoder {
  encode(text: string): Uint8Array;
}

declare class TextDecoder {
  constructor(encoding: string, options: { fatal: boolean });
  decode(data: Uint8Array): string;
}

declare class URL {
  constructor(url: string);
  protocol: string;
  hostname: string;
  port: string;
  username: string;
  password: string;
  pathname: string;
  search: string;
  hash: string;
}
