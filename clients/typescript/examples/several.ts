// Runs several things at once and takes their answers as data.

import { Consort, RunFailed } from 'consort-client';

const consort = new Consort();
const outputSchema = { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] };

async function summary(topic: string): Promise<string> {
  const run = await consort.runs.create({ tasks: [{ description: `Write about ${topic}`, outputSchema }] });
  const answer = (await run.answer()) as { summary: string };
  return answer.summary;
}

try {
  for (const line of await Promise.all(['bees', 'tides', 'volcanoes'].map(summary))) console.log(line);
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  console.log(error.message);
}
