import { describe, expect, it } from 'vitest';
import { type Description, fields as described, operations } from './description';

describe('the description of the API', () => {
  it('becomes operations, and schemas become fields as deep as they are told', () => {
    const description = {
      info: { title: 'x', version: '1' },
      components: {
        schemas: {
          Task: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', description: 'What it is called.' } },
          },
        },
        parameters: { From: { name: 'from', in: 'query' } },
      },
      paths: {
        '/tasks': {
          get: {
            summary: 'List',
            tags: ['tasks'],
            parameters: [{ $ref: '#/components/parameters/From', name: '', in: '' }],
            responses: { 200: { content: { 'application/json': { example: 1 } } } },
          },
        },
      },
    } as Description;
    expect(operations(description)).toMatchObject([
      {
        method: 'GET',
        path: '/tasks',
        tag: 'tasks',
        parameters: [{ name: 'from' }],
        answers: [{ status: '200', example: 1 }],
      },
    ]);
    const schema = {
      allOf: [
        { type: 'object', properties: { tasks: { type: 'array', items: { $ref: '#/components/schemas/Task' } } } },
      ],
    };
    expect(described(description, schema)).toEqual([
      { path: 'tasks', type: 'Task[]', isNeeded: false, about: '' },
      { path: 'tasks[].name', type: 'string', isNeeded: true, about: 'What it is called.' },
    ]);
  });
});
