import { describe, expect, it } from 'vitest';
import { parsed } from './mermaid';

describe('a diagram', () => {
  it('of a flow is read with its shapes, arrows and words', () => {
    const flow = parsed(`graph LR
      A[Weigh the hive] --> B{Ready?}
      B -->|yes| C("Harvest it")
      B -- no --> D & E
      C -.-> D %% a comment
      style A fill:#f00`);
    expect(flow).toEqual({
      kind: 'flow',
      direction: 'LR',
      nodes: [
        { id: 'A', text: 'Weigh the hive', shape: 'box' },
        { id: 'B', text: 'Ready?', shape: 'diamond' },
        { id: 'C', text: 'Harvest it', shape: 'round' },
        { id: 'D', text: 'D', shape: 'box' },
        { id: 'E', text: 'E', shape: 'box' },
      ],
      edges: [
        { from: 'A', to: 'B', text: '', isDashed: false },
        { from: 'B', to: 'C', text: 'yes', isDashed: false },
        { from: 'B', to: 'D', text: 'no', isDashed: false },
        { from: 'B', to: 'E', text: 'no', isDashed: false },
        { from: 'C', to: 'D', text: '', isDashed: true },
      ],
    });
  });

  it('of a conversation is read with its people and what they say', () => {
    const talk = parsed(`sequenceDiagram
      participant B as Beekeeper
      B->>Hive: Opens it
      Note over B: careful
      Hive-->>B: Buzzes`);
    expect(talk).toEqual({
      kind: 'sequence',
      people: [
        { id: 'B', name: 'Beekeeper' },
        { id: 'Hive', name: 'Hive' },
      ],
      said: [
        { from: 'B', to: 'Hive', text: 'Opens it', isDashed: false },
        { from: 'Hive', to: 'B', text: 'Buzzes', isDashed: true },
      ],
    });
  });

  it('of another kind, or not yet whole, is left as text', () => {
    expect(parsed('pie title Pets\n"Dogs" : 386')).toBeUndefined();
    expect(parsed('graph TD\nA --')).toBeUndefined();
    expect(parsed('graph TD')).toBeUndefined();
    expect(parsed('sequenceDiagram\nwhat is this')).toBeUndefined();
    expect(
      parsed(`graph TD\n${Array.from({ length: 300 }, (_, at) => `a${at} --> b${at}`).join('\n')}`),
    ).toBeUndefined();
  });
});
