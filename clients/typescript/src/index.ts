// Starts, watches and steers runs and chats of a Consort server.

export { Consort } from './client.js';
export { approve, edit, exitEarly, reject } from './decisions.js';
export * from './errors.js';
export type * as api from './generated/api.js';
export type { Approval, DecisionRequest, Frame, Review, RunDetail, RunRequest } from './generated/api.js';
export type * as frames from './generated/frames.js';
export { type FollowRun, type OnReview, Run, type RunFilters } from './runs.js';
export { type FollowThread, type OnApproval, type Permission, Thread, Turn } from './threads.js';
export type { Answer, Call, Following, Operation, Settings } from './transport.js';
