import { describe, expect, it } from 'vitest';
import type { Approval, Review, RunRow } from '../api/types';
import { news, type Waiting } from './calls';

const review = (reviewId: string, fields: Partial<Review> = {}): Review =>
  ({ reviewId, timing: 'AFTER_EXECUTION', taskName: 'essay', taskOutput: 'Bees', ...fields }) as Review;
const approval = (approval_id: string): Approval =>
  ({ approval_id, tool_name: 'order_honey', message: 'Order three jars?', thread_id: 'thread-1' }) as Approval;
const run = (runId: string, fields: Partial<RunRow>): RunRow =>
  ({ runId, title: runId, status: 'RUNNING', durationMs: null, ...fields }) as RunRow;
const waiting = (fields: Partial<Waiting>): Waiting => ({ reviews: [], approvals: [], runs: [], ...fields });

describe('news', () => {
  it('are reviews, questions and calls that were not there before', () => {
    const before = waiting({ reviews: [review('old')], approvals: [approval('asked')] });
    const question = review('question', { timing: 'DURING_EXECUTION', prompt: 'Which colour?' });
    const after = waiting({
      reviews: [review('old'), review('new'), question],
      approvals: [approval('asked'), approval('call')],
    });
    expect(news(before, after)).toEqual([
      { tag: 'new', title: 'essay waits for your review', body: 'Bees', to: '/reviews/new' },
      { tag: 'question', title: 'essay asks you', body: 'Which colour?', to: '/reviews/question' },
      { tag: 'call', title: 'May order_honey be called?', body: 'Order three jars?', to: '/chat/thread-1' },
    ]);
    expect(news(after, after)).toEqual([]);
  });

  it('are the ends of runs that were seen at work', () => {
    const names = ['done', 'broken', 'stopped', 'busy'];
    const before = waiting({ runs: names.map((name) => run(name, {})) });
    const ended = { durationMs: 10 };
    const after = waiting({
      runs: [
        run('done', { ...ended, status: 'COMPLETED', outputPreview: 'Honey' }),
        run('broken', { ...ended, status: 'FAILED' }),
        run('stopped', { ...ended, status: 'CANCELLED' }),
        run('busy', {}),
        run('unseen', { ...ended, status: 'COMPLETED' }),
      ],
    });
    expect(news(before, after).map(({ title, to }) => [title, to])).toEqual([
      ['done is done', '/runs/done/outputs'],
      ['broken failed', '/runs/broken'],
      ['stopped was cancelled', '/runs/stopped'],
    ]);
  });
});
