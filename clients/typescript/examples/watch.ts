// Shows what a run does while it does it. The connection may break, and the server may even be killed.

import { Consort } from 'consort-client';

const consort = new Consort();
const run = await consort.runs.create({ inputs: { topic: 'bees' } });
for await (const frame of run.stream()) {
  if (frame.type === 'task_started') console.log(`${frame.taskIndex} of ${frame.totalTasks}: ${frame.agentRole}`);
  if (frame.type === 'tool_called') console.log(`  ${frame.toolName} ${frame.toolArguments}`);
  if (frame.type === 'run_result') console.log(`${frame.status} with ${frame.metrics.totalTokens} tokens`);
}
