// Requests to the server. Every failure is a Problem that says what to do.

import { mediaType } from './files';
import { key } from './key';
import type { Mistake } from './types';
import { t } from '../words/t';

export type { Mistake } from './types';

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly mistakes: Mistake[];
  readonly requestId: string | undefined;

  constructor(
    status: number,
    body: Partial<{ error: string; message: string; mistakes: Mistake[]; requestId: string }>,
  ) {
    super(body.message ?? t('The server answered with status {status}', { status }));
    this.status = status;
    this.code = body.error ?? 'UNKNOWN';
    this.mistakes = body.mistakes ?? [];
    this.requestId = body.requestId;
  }

  /** Whether the server was not there at all. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

export function unreachable(): Problem {
  const message = t(
    'The server cannot be reached. Check that consort serve is running; this page reconnects by itself.',
  );
  return new Problem(0, { error: 'UNREACHABLE', message });
}

export function authorized(headers: Record<string, string>, value: string | null): Record<string, string> {
  return value ? { ...headers, authorization: `Bearer ${value}` } : headers;
}

/** The problem a response tells of. A key that is no longer in use when it is refused is not asked for again. */
export async function problemOf(response: Response, sentKey: string | null): Promise<Problem> {
  if (response.status === 401 && sentKey === key.current()) key.ask();
  const body: unknown = await response.json().catch(() => ({}));
  return new Problem(response.status, typeof body === 'object' && body !== null ? body : {});
}

async function send(
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const sentKey = key.current();
  const headers: Record<string, string> = { accept: 'application/json', ...more };
  const isFile = body instanceof Blob;
  if (body !== undefined && !isFile) headers['content-type'] = 'application/json';
  const request: RequestInit = { method, headers: authorized(headers, sentKey) };
  if (body !== undefined) request.body = isFile ? body : JSON.stringify(body);
  if (signal) request.signal = signal;
  const response = await fetch(path, request).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  if (!response.ok) throw await problemOf(response, sentKey);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send('GET', path, undefined, signal)).json() as Promise<T>;
}

/** The text of a file of the server. */
export async function text(path: string, signal?: AbortSignal): Promise<string> {
  return (await send('GET', path, undefined, signal)).text();
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  return (await send('POST', path, body)).json() as Promise<T>;
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await send('PATCH', path, body)).json() as Promise<T>;
}

/** Saves over the version that was changed, and over no other. */
export async function replace<T>(path: string, version: number, body: unknown): Promise<T> {
  return (await send('PUT', path, body, undefined, { 'if-match': `"${version}"` })).json() as Promise<T>;
}

/** Sends a file as it is, with its name and kind. */
export async function upload<T>(method: 'POST' | 'PUT', path: string, file: File): Promise<T> {
  const headers = {
    'content-type': mediaType(file),
    // A name with other letters than those of ASCII is only allowed in this form.
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
  };
  return (await send(method, path, file, undefined, headers)).json() as Promise<T>;
}

export async function put<T>(path: string, body: unknown): Promise<T> {
  return (await send('PUT', path, body)).json() as Promise<T>;
}

export async function remove(path: string): Promise<void> {
  await send('DELETE', path, undefined);
}

/** Fetches a file of the server with the key, and hands it to the browser to save. */
export async function download(path: string, name: string): Promise<void> {
  saveAs(await (await send('GET', path, undefined)).blob(), name);
}

/** Hands a file to the browser to save. */
export function saveAs(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
