// The examples do what they show, on the demo.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { HOME, QUIET, Served } from './harness.js';

/** What each prints. */
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
    for (const [name, prints] of Object.entries(PRINTS)) {
      const built = join(HOME, 'dist/examples', name.replace('.ts', '.js'));
      const env = { ...QUIET, CONSORT_URL: server.url };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [built], { env, timeout: 60_000 });
      assert.equal(stderr, '', name);
      assert.match(stdout, prints, name);
    }
  } finally {
    await server.close();
  }
});
