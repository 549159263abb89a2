// Runs the server's ensemble and prints its answer.

import { Consort } from 'consort-client';

const consort = new Consort();
const run = await consort.runs.create({ inputs: { topic: 'bees' } });
console.log(await run.answer());
