// Verifies a message of a webhook and signs one for a hook, with the packages that receivers and senders use;
// tests/webhooks_python.py starts it.

import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';

import { sign } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';

const { secret, message, sender } = JSON.parse(await text(process.stdin));
const told = new Webhook(secret).verify(message.body, message.headers);
assert.equal(told.type, 'run.completed');
assert.throws(() => new Webhook(secret).verify(message.body + ' ', message.headers));
console.log(await sign(sender.secret, sender.body));
