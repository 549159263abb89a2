// The client: one address, one key, and everything that can be asked for with them.

import { Runs } from './runs.js';
import { Threads } from './threads.js';
import { type Answer, type Operation, type Rest, type Settings, Transport } from './transport.js';
import { DEFAULT_URL } from './wire.js';

/** A Consort server. */
export class Consort {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly #transport: Transport;

  /** In Node the address and the key are taken from `CONSORT_URL` and `CONSORT_API_KEY` where they are not given. */
  constructor(url?: string, settings: Settings = {}) {
    // A page in a browser has no environment.
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    const key = settings.key ?? env['CONSORT_API_KEY'];
    this.#transport = new Transport(url ?? (env['CONSORT_URL'] || DEFAULT_URL), { ...settings, key });
    this.runs = new Runs(this.#transport);
    this.threads = new Threads(this.#transport);
  }

  /** The address of the server. */
  get url(): string {
    return this.#transport.url;
  }

  /** Any request of the API by its name, such as `GET /api/capabilities`, with the types that it is described with. */
  call<O extends Operation>(operation: O, ...rest: Rest<O>): Promise<Answer<O>> {
    return this.#transport.call(operation, ...rest);
  }

  /** Calls a tool; throws its words when it fails. */
  async tool(name: string, input: string | Record<string, unknown>): Promise<string> {
    const answer = await this.call('POST /api/tools/{name}/invoke', { path: { name }, body: { input } });
    if (answer.status !== 'SUCCESS') throw new Error(answer.errorMessage ?? answer.status);
    return answer.output ?? '';
  }
}
