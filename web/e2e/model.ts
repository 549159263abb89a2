// A model of our own that speaks the OpenAI protocol, and a tool at `/tool`. It follows the marks in its task, or in the
// script's line for that task, so that a test decides how a conversation goes; without marks it answers a few words.
//
//   [words N]  answers with N words          [hold N M]  waits after the word N (the first), and M, for the test
//   [call TOOL {…}]  asks for a tool first   [fail N]   refuses the first N times
//   [say TEXT]  answers with TEXT            [later S]  refuses with the wish to be asked again after S seconds
//   [hang N]  says nothing the first N times, and does not hang up
//   [loop N TOOL COUNT]  N rounds of COUNT calls of TOOL first

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Chunks written at once, as a network brings them: a long answer would be as many system calls otherwise. */
const WRITTEN_TOGETHER = 50;

interface Message {
  role: string;
  content: string | null;
}

export interface FakeModel {
  url: string;
  /** The requests, in order. */
  asked: { model: string; messages: Message[] }[];
  /** Lets every answer to a task with these words go on after one more of its holds, also an answer still to come. */
  release: (words: string) => void;
  close: () => Promise<void>;
}

/** The answers to tasks, by words in their descriptions. */
export type Script = Record<string, string>;

export async function fakeModel(script: Script = {}): Promise<FakeModel> {
  const asked: FakeModel['asked'] = [];
  const failures = new Map<string, number>();
  const holds = new Holds();
  const server = createServer((request, response) => {
    answer(request, response, { asked, failures, holds, script }).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const release = (words: string): void => holds.release(words);
  return { url: `http://127.0.0.1:${port}/v1`, asked, release, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

/** The answers that the test has let go on. */
class Holds {
  readonly #released: string[] = [];
  #waiting: (() => void)[] = [];

  release(words: string): void {
    this.#released.push(words);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }

  /** Returns once the answer to this task was released that often. */
  async passed(task: string, times: number): Promise<void> {
    while (this.#released.filter((words) => task.includes(words)).length < times)
      await new Promise<void>((look) => this.#waiting.push(look));
  }
}

interface Memory {
  asked: FakeModel['asked'];
  failures: Map<string, number>;
  holds: Holds;
  script: Script;
}

/** The task to do with the results so far: a run's task without the outputs it reads, or the last message. */
function wanted(messages: Message[], script: Script): { task: string; since: Message[] } {
  const prompt = messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => content ?? '')
    .join('\n');
  const ofRun = /## Task\n([\s\S]*?)(?=\n## |$)/.exec(prompt)?.[1];
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const task = ofRun ?? messages[last]?.content ?? '';
  const line = Object.entries(script).find(([words]) => task.includes(words));
  return { task: line?.[1] ?? task, since: ofRun === undefined ? messages.slice(last + 1) : messages };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { asked, failures, holds, script }: Memory,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const sent = Buffer.concat(parts).toString();
  if (request.url === '/tool') {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ output: `done: ${sent.length} bytes` }));
    return;
  }
  const body = JSON.parse(sent) as { model: string; messages: Message[] };
  asked.push(body);
  const { task: prompt, since } = wanted(body.messages, script);
  const fails = Number(/\[fail (\d+)\]/.exec(prompt)?.[1] ?? 0);
  const failed = failures.get(prompt) ?? 0;
  if (failed < fails) {
    failures.set(prompt, failed + 1);
    const later = /\[later (\d+)\]/.exec(prompt)?.[1];
    response
      .writeHead(503, { 'content-type': 'application/json', ...(later ? { 'retry-after': later } : {}) })
      .end('{"error":{"message":"the model is overloaded"}}');
    return;
  }
  if (failed < Number(/\[hang (\d+)\]/.exec(prompt)?.[1] ?? 0)) {
    failures.set(prompt, failed + 1);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const said: string[] = [];
  const tell = (): void => {
    response.write(said.splice(0).join(''));
  };
  const send = (choice: unknown, usage?: unknown): void => {
    const chunk = {
      id: 'x',
      object: 'chat.completion.chunk',
      created: 0,
      model: body.model,
      choices: choice ? [choice] : [],
      ...(usage ? { usage } : {}),
    };
    said.push(`data: ${JSON.stringify(chunk)}\n\n`);
    if (said.length >= WRITTEN_TOGETHER) tell();
  };
  const [, rounds = 0, tool = '', size = 0] = /\[loop (\d+) (\S+) (\d+)\]/.exec(prompt) ?? [];
  const done = since.filter(({ role }) => role === 'assistant').length;
  if (done < Number(rounds)) {
    const requests = Array.from({ length: Number(size) }, (_, index) => ({
      index,
      id: `call_${done}_${index}`,
      type: 'function',
      function: { name: tool, arguments: `{"input":"${done} + ${index}"}` },
    }));
    send({ index: 0, delta: { role: 'assistant', content: null, tool_calls: requests } });
    send({ index: 0, delta: {}, finish_reason: 'tool_calls' });
    send(undefined, { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
    tell();
    response.end('data: [DONE]\n\n');
    return;
  }
  const calls = [...prompt.matchAll(/\[call (\S+) (\{.*?\})\]/g)];
  const hasResults = since.some(({ role }) => role === 'tool');
  if (calls.length > 0 && !hasResults) {
    const requests = calls.map(([, name, args], index) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: args },
    }));
    send({ index: 0, delta: { role: 'assistant', content: null, tool_calls: requests } });
    send({ index: 0, delta: {}, finish_reason: 'tool_calls' });
  } else {
    const stops = /\[hold([ \d]*)\]/.exec(prompt)?.[1]?.trim();
    const places = stops === undefined ? [] : stops === '' ? [1] : stops.split(' ').map(Number);
    for (const [at, word] of wordsOf(prompt).entries()) {
      if (response.destroyed) return;
      send({ index: 0, delta: { content: word } });
      const hold = places.indexOf(at + 1);
      if (hold < 0) continue;
      tell();
      await holds.passed(prompt, hold + 1);
    }
    send({ index: 0, delta: {}, finish_reason: 'stop' });
  }
  send(undefined, {
    prompt_tokens: Math.ceil(prompt.length / 4),
    completion_tokens: 40,
    total_tokens: 40 + Math.ceil(prompt.length / 4),
  });
  tell();
  response.end('data: [DONE]\n\n');
}

function wordsOf(prompt: string): string[] {
  const said = /\[say ([\s\S]+)\]/.exec(prompt)?.[1];
  if (said) return said.split(/(?<=\s)/);
  const count = Number(/\[words (\d+)\]/.exec(prompt)?.[1] ?? 6);
  return Array.from({ length: count }, (_, index) => `word${index + 1} `);
}
