// Writes src/generated: the types that the web UI's `types.mjs` makes from openapi.json and schemas/frames.json, with
// the names of files that Node wants. With `check` it only says whether that is up to date.
// @ts-check

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const FROM = resolve(import.meta.dirname, '../../web/src/api/generated');
const TO = resolve(import.meta.dirname, 'src/generated');

mkdirSync(TO, { recursive: true });
for (const name of ['api.ts', 'frames.ts']) {
  const text = readFileSync(resolve(FROM, name), 'utf8').replaceAll("from './frames'", "from './frames.js'");
  const path = resolve(TO, name);
  if (process.argv[2] !== 'check') writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(
      `clients/typescript/src/generated/${name} is out of date: run \`npm run types\` in clients/typescript`,
    );
    process.exitCode = 1;
  }
}
