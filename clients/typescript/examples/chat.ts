// Talks with the assistant, word by word, and denies every call that needs permission.

import { Consort } from 'consort-client';

const consort = new Consort();
const thread = await consort.threads.create('Sums');
for (const content of ['What is 42 * 17?', 'And 6 * 7?']) {
  console.log(`> ${content}`);
  const turn = await thread.say(content);
  for await (const frame of turn.stream({ onApproval: () => 'deny' })) {
    if (frame.type === 'chunk' && frame.depth === 0) process.stdout.write(frame.content);
  }
  console.log();
}
