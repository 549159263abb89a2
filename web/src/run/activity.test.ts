import { describe, expect, it } from 'vitest';
import { fold } from './fold';
import { emptyRun } from './seed';
import { runActivity } from './activity';
import { RUN } from './fixture';

describe('what a run does now', () => {
  const upTo = (type: string): string =>
    runActivity(fold(emptyRun('run-1'), RUN.slice(0, RUN.findLastIndex((frame) => frame.type === type) + 1))).text;

  it.each([
    ['run_accepted', 'Waits in the queue'],
    ['tool_dispatched', 'one runs calculator'],
    ['llm_iteration_started', 'one waits for swift to answer'],
    ['model_failed', 'swift failed (HTTP 503); tries again'],
    ['review_requested', 'Waits for a person to review one'],
    ['cancel_requested', 'Stops at once'],
    ['ensemble_completed', 'Cancelled; outputs of finished tasks are kept'],
  ])('after %s it says so', (type, text) => {
    expect(upTo(type)).toBe(text);
  });
});
