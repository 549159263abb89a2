// Runs: started, followed, steered and decided.

import { attendant } from './attend.js';
import { RunFailed } from './errors.js';
import type {
  DecisionRequest,
  Edits,
  Frame,
  InjectRequest,
  Rehearsal,
  Review,
  RunDetail,
  RunRequest,
  Runs as Page,
} from './generated/api.js';
import type { Following, Transport } from './transport.js';
import { segment } from './wire.js';

/** Decides what waits for a person; `undefined` leaves it to somebody else. */
export type OnReview = (review: Review) => DecisionRequest | undefined | Promise<DecisionRequest | undefined>;

export interface FollowRun extends Following {
  only?: readonly Frame['type'][];
  onReview?: OnReview | undefined;
}

/** A run on the server. */
export class Run {
  readonly id: string;
  readonly #transport: Transport;

  constructor(transport: Transport, id: string) {
    this.#transport = transport;
    this.id = id;
  }

  /**
   * Its frames, each stored one exactly once, to the last, `run_result`; over broken connections and restarts. Tokens are
   * not stored: those of a connection that broke are gone, and `llm_iteration_completed` has the whole answer.
   */
  async *stream({ since, only = [], onReview, signal }: FollowRun = {}): AsyncGenerator<Frame, void, undefined> {
    const attend = onReview ? this.#attendant(onReview) : () => Promise.resolve();
    if (since !== undefined) await attend();
    const wanted = only.length > 0 && onReview ? [...only, 'review_requested'] : only;
    const path = `/api/runs/${segment(this.id)}/events`;
    for await (const frame of this.#transport.frames(path, { since, only: wanted, signal })) {
      if (frame.type === 'review_requested') await attend();
      if (only.length === 0 || only.includes(frame.type) || frame.type === 'run_result') yield frame;
    }
  }

  /** Waits for its end, however it ends. */
  async wait(following: Omit<FollowRun, 'since' | 'only'> = {}): Promise<RunDetail> {
    const stream = this.stream({ ...following, only: ['run_result'] });
    while (!(await stream.next()).done);
    return this.#transport.patiently(() => this.detail(), following.signal);
  }

  /** Waits for its answer: data where the last task has a schema, else text. Throws `RunFailed`. */
  async answer(following: Omit<FollowRun, 'since' | 'only'> = {}): Promise<unknown> {
    const detail = await this.wait(following);
    if (detail.status !== 'COMPLETED') throw new RunFailed(detail);
    return detail.parsedOutput ?? detail.output;
  }

  /** Returns the run with its tasks and outputs. */
  detail(): Promise<RunDetail> {
    return this.#transport.call('GET /api/runs/{id}', { path: this.#path });
  }

  /** The open reviews. */
  async reviews(): Promise<Review[]> {
    return (await this.#transport.call('GET /api/reviews', { query: { runId: this.id } })).reviews;
  }

  /** Decides a review. */
  async decide(reviewId: string, decision: DecisionRequest): Promise<void> {
    await this.#transport.call('POST /api/reviews/{id}', { path: { id: reviewId }, body: decision });
  }

  /** Stops it, as soon as the mode says. */
  async cancel(mode: 'after_task' | 'after_iteration' | 'now' = 'after_task'): Promise<void> {
    await this.#transport.call('POST /api/runs/{id}/cancel', { path: this.#path, body: { mode } });
  }

  /** Holds it before its next step. */
  async pause(): Promise<void> {
    await this.#transport.call('POST /api/runs/{id}/pause', { path: this.#path });
  }

  /** Lets it go on. */
  async resume(): Promise<void> {
    await this.#transport.call('POST /api/runs/{id}/resume', { path: this.#path });
  }

  /** Makes every later model call ask this one. */
  async switchModel(model: string): Promise<void> {
    await this.#transport.call('POST /api/runs/{id}/model', { path: this.#path, body: { model } });
  }

  /** Tells its agents something; `target`, `priority` and `ttl` say to whom, how urgently and for how long. */
  async inject(content: string, more: Omit<InjectRequest, 'content'> = {}): Promise<void> {
    await this.#transport.call('POST /api/runs/{id}/inject', { path: this.#path, body: { content, ...more } });
  }

  /** A new run that keeps what this one completed. */
  async retry(edits: Edits = {}): Promise<Run> {
    const taken = await this.#transport.call('POST /api/runs/{id}/retry', { path: this.#path, body: edits });
    return new Run(this.#transport, begun(taken));
  }

  /** A new run that begins with this one's events up to one of them. */
  async fork(edits: Edits): Promise<Run> {
    const taken = await this.#transport.call('POST /api/runs/{id}/fork', { path: this.#path, body: edits });
    return new Run(this.#transport, begun(taken));
  }

  /** Erases it; one that has not ended is stopped first, and erased by another call. */
  async delete(): Promise<void> {
    await this.#transport.call('DELETE /api/runs/{id}', { path: this.#path });
  }

  get #path(): { id: string } {
    return { id: this.id };
  }

  #attendant(ask: OnReview): () => Promise<void> {
    return attendant({
      patiently: (request) => this.#transport.patiently(request),
      open: () => this.reviews(),
      idOf: ({ reviewId }: Review) => reviewId,
      ask,
      apply: (id, decision: DecisionRequest) => this.decide(id, decision),
    });
  }
}

/** The runs that are wanted, as `GET /api/runs` describes them. */
export type RunFilters = {
  status?: string;
  tag?: string;
  kind?: string;
  q?: string;
  from?: string;
  to?: string;
  model?: string;
  minCost?: number;
  waiting?: string;
  paused?: boolean;
  order?: string;
  after?: string;
  limit?: number;
  offset?: number;
};

/** Returns the id of the run that was begun. */
function begun(taken: { runId: string } | Rehearsal): string {
  if (!('runId' in taken)) throw new TypeError('a dry run starts nothing: use plan');
  return taken.runId;
}

/** The runs of a server. */
export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a run: of the ensemble with these `inputs`, or as the request says. */
  async create(request: RunRequest = {}, idempotencyKey?: string): Promise<Run> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const taken = await this.#transport.call('POST /api/runs', { body: request, headers });
    return new Run(this.#transport, begun(taken));
  }

  /** Returns the plan of a request; nothing is started. */
  async plan(request: RunRequest = {}): Promise<Rehearsal> {
    return (await this.#transport.call('POST /api/runs', { body: { ...request, dryRun: true } })) as Rehearsal;
  }

  /** A run by its id; nothing is asked of the server yet. */
  open(id: string): Run {
    return new Run(this.#transport, id);
  }

  /** A page of runs. */
  list(filters: RunFilters = {}): Promise<Page> {
    return this.#transport.call('GET /api/runs', { query: filters });
  }
}
