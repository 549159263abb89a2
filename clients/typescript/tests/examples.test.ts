// The examples do what they show, on the demo.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { HOME, QUIET, Served } from './harness.js';

/** The output of each. */
const PRINTS: Record<string, RegExp> = {
  'ask.ts': /^# Program of an evening about bees\n/,
  'chat.ts': /^> What is 42 \* 17\?\n- 42 \* 17 = \*\*714\*\*\n[^>]+> And 6 \* 7\?\n- 6 \* 7 = \*\*42\*\*\n/,
  'review.ts': /^(letter waits for a decision\n){2}# Letter of thanks\n[^]+Warmer, please\n/,
  'several.ts': /^[^\n]*bees[^\n]*\n[^\n]*tides[^\n]*\n[^\n]*volcanoes[^\n]*\n$/,
  'watch.ts': /^1 of 3: Researcher\n2 of 3: Calculator\n( {2}calculator \{.+\}\n)+3 of 3: Writer\nCOMPLETED with \d+/,
};

test('every example does what it shows', async () => {
  assert.deepEqual(readdirSync(join(HOME, 'examples')).toSorted(), Object.keys(PRINTS));
  const server = await Served.start();
  try {
    const env = { ...QUIET, CONSORT_URL: server.url };
    const run = async (file: string, prints: RegExp): Promise<void> => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { env, timeout: 300_000 });
      assert.equal(stderr, '', file);
      assert.match(stdout, prints, file);
    };
    const shown = /```typescript\n([^]+?)```/.exec(readFileSync(join(HOME, 'README.md'), 'utf8'))?.[1] ?? '';
    const readme = join(HOME, 'dist/readme.mjs');
    writeFileSync(readme, shown.replace('http://127.0.0.1:7329', server.url));
    const prints = /^run_accepted\n(\w+\n)+run_result\n# Program of an evening about bees\n[^]+\*\*714\*\*\n/;
    const built = (name: string): string => join(HOME, 'dist/examples', name.replace('.ts', '.js'));
    // Two at a time, because the demo takes five runs at once.
    await Promise.all([run(readme, prints), run(built('ask.ts'), PRINTS['ask.ts'] ?? /^$/)]);
    for (const [name, prints] of Object.entries(PRINTS)) await run(built(name), prints);
  } finally {
    await server.close();
  }
});
