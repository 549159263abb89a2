import { describe, expect, it } from 'vitest';
import { aloneRequest, inputNames, readNames } from './alone';
import { drawn, WRITE } from './fixture';
import { change } from './graph';

describe('a task alone', () => {
  const graph = change(drawn(), WRITE, { description: 'Write for {audience}', additionalContext: 'Be brief' });

  it('gets the outputs it reads as inputs, so that their braces stay as they are', () => {
    expect(readNames(graph, WRITE)).toEqual(['read']);
    expect(inputNames(graph, WRITE)).toEqual(['audience']);
    const pinned = { outputs: { read: '{topic} is "{}"' }, inputs: { audience: 'children' } };
    expect(aloneRequest(graph, WRITE, pinned)).toEqual({
      tasks: [
        {
          name: 'write',
          description: 'Write for {audience}',
          additionalContext: "Be brief\n\nThe output of 'read':\n\n{pinned_1}",
          outputSchema: { type: 'object' },
          review: 'required',
          maxIterations: 3,
        },
      ],
      inputs: { audience: 'children', pinned_1: '{topic} is "{}"' },
    });
  });
});
