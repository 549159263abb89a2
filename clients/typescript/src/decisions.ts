// What a callback may say about a review.

import type { DecisionRequest } from './generated/api.js';

/** The run goes on with what was made. */
export const approve = (): DecisionRequest => ({ decision: 'APPROVE' });

/** The run goes on with this instead; to a question it is the answer. */
export const edit = (output: string): DecisionRequest => ({ decision: 'EDIT', revisedOutput: output });

/** The task is done again with this feedback. */
export const reject = (feedback: string): DecisionRequest => ({ decision: 'REJECT', feedback });

/** The run ends here; what there is stands. */
export const exitEarly = (): DecisionRequest => ({ decision: 'EXIT_EARLY' });
