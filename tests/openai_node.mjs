// Talks to a server with OpenAI's own package for JavaScript; tests/openai_python.py starts both.

import assert from 'node:assert/strict';

import OpenAI from 'openai';

const client = new OpenAI({ baseURL: `${process.env.CONSORT_URL}/v1`, apiKey: process.env.CONSORT_API_KEY, maxRetries: 0 });
const messages = (content) => [{ role: 'user', content }];

const models = await client.models.list();
assert(models.data.some((model) => model.id === 'consort'));

const whole = await client.chat.completions.create({ model: 'consort', messages: messages('[say forty two]') });
assert.equal(whole.choices[0].message.content, 'forty two');

const stream = client.chat.completions.stream({ model: 'consort', messages: messages('[words 4] [pace 20]') });
assert.equal((await stream.finalContent()).trim().split(' ').length, 4);

const first = await client.responses.create({ model: 'consort', input: '[say one]' });
assert.equal(first.output_text, 'one');
const events = client.responses.stream({ model: 'consort', input: '[say two]', previous_response_id: first.id });
assert.equal((await events.finalResponse()).output_text, 'two');

const picture = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const shown = await client.chat.completions.create({
  model: 'consort',
  messages: messages([{ type: 'text', text: '[look]' }, { type: 'image_url', image_url: { url: picture } }]),
});
assert.equal(shown.choices[0].message.content.trim(), picture);

await assert.rejects(client.chat.completions.create({ model: 'gpt-4', messages: messages('x') }), OpenAI.NotFoundError);
console.log('openai for JavaScript: fine');
