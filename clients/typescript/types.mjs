// Writes src/generated, for this client and for the web UI, from the server's own descriptions, openapi.json and
// schemas/frames.json; with `check` it only says whether that is up to date. Knows the part of JSON Schema that they use
// and refuses the rest.
// @ts-check

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** @typedef {Record<string, any>} Schema */

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = resolve(import.meta.dirname, 'src/generated');

/** Characters beyond which a union is one type to a line. */
const WIDTH = 110;

/** Keywords that limit a value without changing its type. */
const LIMITS = [
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'contentMediaType',
  'contentSchema',
  'examples',
];
const KNOWN = new Set([
  ...LIMITS,
  'description',
  '$ref',
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'anyOf',
  'allOf',
  'oneOf',
  'discriminator',
]);

/** `server.run_accepted` is `ServerRunAccepted`. */
const named = (/** @type {string} */ name) =>
  name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const indent = (/** @type {string} */ text) => text.replaceAll('\n', '\n  ');

const about = (/** @type {Schema} */ { description }) => (description ? `/** ${description} */\n` : '');

const literal = (/** @type {unknown} */ value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

/** @param {string[]} types */
function union(types) {
  const each = [...new Set(types)];
  const line = each.join(' | ');
  return line.length > WIDTH && each.length > 1 ? `\n  | ${each.map(indent).join('\n  | ')}` : line;
}

/** The types of the frames that a choice is between: they are declared beside it. @param {Schema} schema */
const frameTypes = ({ discriminator }) =>
  Object.keys(discriminator.mapping).map((type) => `frames.${named(`server.${type}`)}`);

/** The type of a part, in brackets where it would come apart. @param {Schema} schema */
function part(schema) {
  const isUnion =
    schema.anyOf || schema.allOf || schema.enum?.length > 1 || (schema.type?.length > 1 && Array.isArray(schema.type));
  return isUnion ? `(${typeOf(schema)})` : typeOf(schema);
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  const strange = Object.keys(schema).find((keyword) => !KNOWN.has(keyword) && !keyword.startsWith('x-'));
  if (strange) throw new Error(`types.mjs does not know the keyword ${strange} in ${JSON.stringify(schema)}`);
  if (schema.$ref) return named(schema.$ref.split('/').at(-1));
  if ('const' in schema) return literal(schema.const);
  if (schema.discriminator) return union(frameTypes(schema));
  if (schema.enum) return union(schema.enum.map(literal));
  const { anyOf, allOf = [], ...own } = schema;
  const parts = [...(own.properties ? [own] : []), ...allOf, ...(anyOf ? [{ anyOf }] : [])];
  // A choice of which fields are needed has no type.
  if (parts.length > 1)
    return parts
      .map(part)
      .filter((type) => type !== '(unknown)')
      .join(' & ');
  if (anyOf) return union(anyOf.map(typeOf));
  if (allOf.length > 0) return typeOf(allOf[0]);
  if (schema.type === undefined) return 'unknown';
  return union([schema.type].flat().map((type) => plain(type, schema)));
}

/** @param {string} type @param {Schema} schema */
function plain(type, schema) {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `${part(schema.items ?? {})}[]`;
    case 'object':
      return object(schema);
    default:
      return type;
  }
}

/** @param {Schema} schema */
function object({ properties, required = [], additionalProperties }) {
  if (!properties) return `Record<string, ${additionalProperties ? typeOf(additionalProperties) : 'unknown'}>`;
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^\w+$/.test(name) ? name : literal(name);
    return `${about(field)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(field)};`.replace(': \n', ':\n');
  });
  return `{\n  ${indent(fields.join('\n'))}\n}`;
}

/** @param {string} name @param {Schema} schema */
function declaration(name, schema) {
  const type = typeOf(schema);
  const isInterface = schema.properties && !schema.anyOf && !schema.allOf;
  const alias = `type ${named(name)} =${type.startsWith('\n') ? '' : ' '}${type};`;
  return `${about(schema)}export ${isInterface ? `interface ${named(name)} ${type}` : alias}\n`;
}

/** @param {Record<string, Schema>} schemas */
const declarations = (schemas) =>
  Object.entries(schemas)
    .map(([name, schema]) => declaration(name, schema))
    .join('\n');

/** The type of the JSON in a request or an answer. @param {Schema | undefined} holder @returns {string | undefined} */
function json(holder) {
  const schema = holder?.content?.['application/json']?.schema;
  return schema ? typeOf(schema) : undefined;
}

/** @param {Record<string, Schema>} paths */
function requests(paths) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      if (!operation.responses) return [];
      const answers = Object.entries(operation.responses).flatMap(([status, response]) =>
        status.startsWith('2') ? (json(response) ?? []) : [],
      );
      const body = json(operation.requestBody);
      const parts = [...(body ? [`body: ${body};`] : []), `answer: ${union(answers) || 'unknown'};`];
      return [
        `${about({ description: operation.summary })}${literal(`${method.toUpperCase()} ${path}`)}: {\n  ${indent(parts.join('\n'))}\n};`,
      ];
    }),
  );
  return `/** The body and the answer of each request, as JSON. */\nexport interface Requests {\n  ${indent(all.join('\n'))}\n}\n`;
}

/** @param {string} path @returns {Schema} */
const read = (path) => JSON.parse(readFileSync(resolve(ROOT, path), 'utf8'));

/** @param {string} source @param {string} text */
const file = (source, text) => `// Made from ${source} by \`npm run types\`.\n\n${text}`;

const api = read('openapi.json');
const frames = read('schemas/frames.json')['$defs'];
const described = Object.values(api['components'].schemas['Frame'].discriminator.mapping);
const isFrame = (/** @type {string} */ name) => name in frames || described.includes(`#/components/schemas/${name}`);
const own = Object.entries(api['components'].schemas).filter(([name]) => !isFrame(name));
const files = {
  'api.ts': file(
    'openapi.json',
    `import type * as frames from './frames.js';\n\n${declarations(Object.fromEntries(own))}\n${requests(api['paths'])}`,
  ),
  'frames.ts': file('schemas/frames.json', declarations(frames)),
};

mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const path = resolve(FOLDER, name);
  if (process.argv[2] !== 'check') writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`src/generated/${name} is out of date: run \`npm run types\` in clients/typescript/`);
    process.exitCode = 1;
  }
}
