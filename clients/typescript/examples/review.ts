// Brings a task of its own, and decides about what it made: sends it back once, then takes it.

import { approve, Consort, reject } from 'consort-client';

const consort = new Consort();
const run = await consort.runs.create({
  tasks: [{ name: 'letter', description: 'Write a letter of thanks', review: 'required' }],
});
const answer = await run.answer({
  onReview: ({ reviewId, taskName }) => {
    console.log(`${taskName} waits for a decision`);
    return reviewId.endsWith('-0') ? reject('Warmer, please') : approve();
  },
});
console.log(answer);
