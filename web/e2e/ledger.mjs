// A small MCP server over stdio: what hives weigh.

import { createInterface } from 'node:readline';

const TOOLS = [
  {
    name: 'weigh_hive',
    description: 'Weighs a hive, in kilograms',
    inputSchema: { type: 'object', properties: { hive: { type: 'string', enum: ['one', 'two'] } }, required: ['hive'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'note_harvest',
    description: 'Notes a harvest in the ledger',
    inputSchema: {
      type: 'object',
      properties: { hive: { type: 'string' }, kilograms: { type: 'number' } },
      required: ['hive', 'kilograms'],
    },
  },
];

/** @type {Record<string, (params: any) => object>} */
const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'ledger', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: { hive } }) => ({
    content: [{ type: 'text', text: name === 'weigh_hive' ? `Hive ${hive}: 42 kg` : 'noted' }],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result = RESULTS[method]?.(params);
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: `no ${method}` } }) })}\n`,
  );
});
