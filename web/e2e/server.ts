// The real server, on a port of its own, with a data directory of its own; it can be stopped and started again.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const BINARY = process.env['CONSORT_BIN'] ?? resolve(import.meta.dirname, '../../target/debug/consort');

export class Consort {
  readonly #folder = mkdtempSync(join(tmpdir(), 'consort-web-'));
  #child: ChildProcess | undefined;
  #port = 0;

  /** Starts a server on this configuration, or on the demo. */
  static async start(config?: string): Promise<Consort> {
    const server = new Consort();
    if (config !== undefined) writeFileSync(join(server.#folder, 'consort.toml'), config);
    await server.up();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts; the second time on the port it had. */
  async up(): Promise<void> {
    const args = ['serve', '--port', String(this.#port), '--data', join(this.#folder, 'data')];
    const child = spawn(BINARY, args, { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const log: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
    const lines = createInterface({ input: child.stdout });
    const first = await new Promise<string>((ready, failed) => {
      lines.once('line', ready);
      child.once('exit', (code) =>
        failed(new Error(`consort serve ended with ${code}:\n${log.slice(-20).join('\n')}`)),
      );
    });
    this.#port = Number(/:(\d+)$/.exec(first)?.[1]);
  }

  /** Kills it as a crash would. */
  async down(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.down();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async submit(request: unknown): Promise<string> {
    const answer = await this.call('POST', '/api/runs', request);
    return (answer as { runId: string }).runId;
  }

  /** Submits and waits for the end. */
  async finish(request: unknown): Promise<string> {
    const answer = await this.call('POST', '/api/runs', request, { prefer: 'wait=120' });
    return (answer as { runId: string }).runId;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }
}

/** A configuration on a fake model under two names. */
export function config(modelUrl: string, more = ''): string {
  const model = (alias: string): string => `
[models.${alias}]
provider = "openai"
model = "${alias}"
base_url = "${modelUrl}"
api_key = "none"
price = { input = 3.0, output = 15.0 }
`;
  return `${model('swift')}${model('deep')}
[server]
max_concurrent_runs = 50
# Longer than the longest file takes on a busy machine: its questions are looked at last.
review_timeout = "2h"
workspace = "./workspace"

[ensemble]
name = "newsroom"
inputs = { topic = "bees" }

[[ensemble.task]]
name = "research"
description = "Research {topic}"
expected_output = "Findings"

[[ensemble.task]]
name = "write"
description = "Write about {topic} for {audience}"
expected_output = "An article"
context = ["$research"]

[tools]
builtin = ["calculator", "datetime", "json", "human_input", "read_file", "write_file"]
${more}`;
}

/** A configuration with a tool of the fake model's, which asks before it is called. */
export function withHoney(modelUrl: string): string {
  const tool = `
[tools.http.order_honey]
description = "Orders honey"
url = "${modelUrl.replace('/v1', '/tool')}"
input_schema = { type = "object", properties = { jars = { type = "integer" } } }
permission = "network"
effect = "once"
`;
  return config(modelUrl, tool);
}

const DEMO = '[models.demo]\nprovider = "demo"\nmodel = "demo"\n';

/** An ensemble that shares a tool and a task. */
export function kitchen(name = 'kitchen', realm = 'downtown'): string {
  return `${DEMO}
[ensemble]
name = "${name}"

[[ensemble.task]]
name = "prepare-meal"
description = "Prepare {context}"

[[ensemble.share]]
kind = "tool"
name = "check-inventory"
target = "calculator"
tags = ["food", "stock"]

[[ensemble.share]]
kind = "task"
name = "prepare-meal"
tags = ["food"]

[network]
realm = "${realm}"
`;
}

/** An ensemble linked with that one. */
export function room(peer: string): string {
  return `${DEMO}
[ensemble]
name = "room"

[[ensemble.task]]
description = "Serve"
tools = ["network:#food"]

${peers({ kitchen: peer })}`;
}

/** Links to the servers at these addresses. */
export function peers(urls: Record<string, string>): string {
  const lines = Object.entries(urls).map(([name, url]) => `${name} = "${url.replace('http', 'ws')}/ws"`);
  return `[network]\nrealm = "downtown"\nlease = "2s"\n\n[network.peers]\n${lines.join('\n')}\n`;
}
