import { describe, expect, it } from 'vitest';
import { at, place, RUN, told, whole } from './fixture';
import { fold } from './fold';
import { Replay } from './replay';
import { emptyRun } from './seed';

describe('a replay', () => {
  it('is at each event what the fold was then, in any order', () => {
    const replay = new Replay('run-1', RUN);
    for (const seq of [RUN.length - 1, 3, 0, 17, 8])
      expect(replay.at(seq)).toEqual(fold(emptyRun('run-1'), RUN.slice(0, seq + 1)));
    expect(replay.at(RUN.length + 5)).toEqual(whole);
    expect(replay.at(3).tasks.map(({ status }) => status)).toEqual(['RUNNING', 'PENDING']);
    expect(replay.at(3).at).toBe(at(3));
  });

  it('keeps its place in a long run', () => {
    const [accepted, ...rest] = RUN;
    const rounds = Array.from({ length: 900 }, (_, index) => ({
      type: 'last_round',
      ...place('1', 'one'),
      iterationIndex: index,
    }));
    const frames = told(accepted ?? {}, ...rest.slice(0, 3), ...rounds).map((frame, seq) => ({
      ...frame,
      seq,
      at: at(seq),
    }));
    const replay = new Replay('run-1', frames);
    for (const seq of [903, 500, 250, 249, 251])
      expect(replay.at(seq)).toEqual(fold(emptyRun('run-1'), frames.slice(0, seq + 1)));
  });
});
