// Everything that can go wrong, by what a caller can do about it.

import type { Mistake, RunDetail } from './generated/api.js';

/** Something went wrong between this program and the server. */
export class ConsortError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server is not there, or went away and did not come back in time. */
export class Unreachable extends ConsortError {}

/** The address answers, but not as Consort does. */
export class NotConsort extends ConsortError {}

interface ProblemBody {
  error?: string;
  code?: string;
  message?: string;
  mistakes?: Mistake[];
  requestId?: string;
  retryAfterMs?: number;
}

/** The server refused a request and says why. */
export class Problem extends ConsortError {
  /** The status of the answer. */
  readonly status: number;
  /** The code for programs, such as `RUN_NOT_FOUND`. */
  readonly code: string;
  /** Every mistake in the request, each with its place. */
  readonly mistakes: Mistake[];
  /** The id of the request, which is in the server's log too. */
  readonly requestId: string | undefined;
  /** Milliseconds after which the same request may be taken. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: ProblemBody) {
    const code = body.error ?? body.code ?? 'UNKNOWN';
    super(`${body.message ?? `the server answered with status ${status}`} (${code})`);
    this.status = status;
    this.code = code;
    this.mistakes = body.mistakes ?? [];
    this.requestId = body.requestId;
    this.retryAfterMs = body.retryAfterMs;
  }
}

/** Something in the request is wrong; `mistakes` says what and where. */
export class BadRequest extends Problem {}

/** The server wants a key, or does not take this one. */
export class Unauthorized extends Problem {}

/** The key does not allow this. */
export class Forbidden extends Problem {}

/** There is no such thing, or it belongs to somebody else. */
export class NotFound extends Problem {}

/** It was decided, ended or changed before. */
export class Conflict extends Problem {}

/** The server has enough to do; `retryAfterMs` says when to try again. */
export class Busy extends Problem {}

/** The server cannot do it now. */
export class ServerError extends Problem {}

/** A run did not complete. */
export class RunFailed extends ConsortError {
  /** The run. */
  readonly detail: RunDetail;

  constructor(detail: RunDetail) {
    super(`${detail.runId}: ${detail.status}: ${detail.error ?? 'no reason was given'}`);
    this.detail = detail;
  }
}

/** A turn of a chat did not come to an answer. */
export class TurnFailed extends ConsortError {
  /** Its last status: `FAILED` or `CANCELLED`. */
  readonly status: string;
  /** The words that came before the failure. */
  readonly partial: string;

  constructor(status: string, message: string, partial: string) {
    super(message ? `${status}: ${message}` : status);
    this.status = status;
    this.partial = partial;
  }
}

const KINDS: Record<number, typeof Problem> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: Conflict,
  428: Conflict,
  429: Busy,
};

/** The error that an answer tells of. */
export function problemOf(status: number, text: string, url: string): ConsortError {
  const body = parsed(text);
  if (!body || !('error' in body || 'lifecycleState' in body)) {
    // A proxy answers for a server that is away.
    const Kind = status >= 500 ? Unreachable : NotConsort;
    return new Kind(`${url} answered with status ${status} and not as Consort does`);
  }
  const Kind = KINDS[status] ?? (status >= 500 ? ServerError : BadRequest);
  return new Kind(status, body);
}

function parsed(text: string): ProblemBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
