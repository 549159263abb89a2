// The real server on a port of its own, which can be killed and started again; a fake model; a proxy that cuts
// connections.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** The folder of the package: the tests run from `dist/tests`. */
export const HOME = resolve(import.meta.dirname, '../..');
const TESTING = resolve(HOME, '../testing');
const BINARY = process.env['CONSORT_BIN'] ?? resolve(HOME, '../../target/debug/consort');
export const KEY = 'a key of the tests';
export const READER = 'a key to look';
/** Nobody's settings but those of the tests. */
export const QUIET = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CONSORT_')));

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('nothing is read from it');
  const lines = createInterface({ input: child.stdout });
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${String(code)}`)));
  const [line] = (await Promise.race([once(lines, 'line'), gone])) as [string];
  gone.catch(() => {});
  return line;
}

export class FakeModel {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<FakeModel> {
    const child = spawn('python3', [join(TESTING, 'fake_model.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    return new FakeModel(child, await firstLine(child));
  }

  /** The configuration on it. */
  get config(): string {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
    return readFileSync(join(TESTING, 'fake.toml'), 'utf8')
      .replaceAll('MODEL_URL', this.url)
      .replace('TESTS_SHA256', hash(KEY))
      .replace('READER_SHA256', hash(READER));
  }

  /** Lets the answers that are held by this name go on. */
  async goOn(name: string): Promise<void> {
    await fetch(`${this.url}/go-on/${name}`, { method: 'POST', body: '{}' });
  }

  close(): void {
    this.#child.stdin?.end();
    this.#child.kill();
  }
}

export class Served {
  readonly #folder = mkdtempSync(join(tmpdir(), 'consort-client-'));
  #child: ChildProcess | undefined;
  port = 0;

  /** Starts a server on this configuration, or on the demo. */
  static async start(config?: string): Promise<Served> {
    const server = new Served();
    if (config !== undefined) writeFileSync(join(server.#folder, 'consort.toml'), config);
    await server.up();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it; the second time on the port it had. */
  async up(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a');
    const words = ['serve', '--port', String(this.port), '--data', 'data'];
    const child = spawn(BINARY, words, { cwd: this.#folder, stdio: ['ignore', 'pipe', log], env: QUIET });
    closeSync(log);
    this.#child = child;
    const line = await firstLine(child).catch((error: unknown) => {
      throw new Error(readFileSync(join(this.#folder, 'log'), 'utf8'), { cause: error });
    });
    this.port = Number(/:(\d+)$/.exec(line)?.[1]);
  }

  /** Kills it as a crash would. */
  async down(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async close(): Promise<void> {
    await this.down();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Passes bytes on to a server, until it cuts all connections. */
export class Proxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections whose answer is cut off instead of passed on. */
  deafToAnswers = 0;

  private constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      const isDeaf = this.deafToAnswers > 0;
      if (isDeaf) this.deafToAnswers -= 1;
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      if (isDeaf) far.once('data', () => near.destroy());
      else far.pipe(near);
    });
  }

  static async start(port: number): Promise<Proxy> {
    const proxy = new Proxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection there is; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
