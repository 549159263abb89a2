// The API's description as rows to read: its operations, and the fields of its schemas.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  allOf?: Schema[];
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Response {
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}

interface OperationObject {
  summary?: string;
  description?: string;
  tags?: string[];
  'x-scope'?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, Media> };
  responses?: Record<string, Response>;
}

export interface Description {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: Record<string, Record<string, unknown>>;
}

export interface Operation {
  method: string;
  path: string;
  summary: string;
  about: string;
  tag: string;
  scope: string | undefined;
  parameters: Parameter[];
  body: Schema | undefined;
  /** Whether it can be asked for from a page: a GET that is answered with JSON. */
  isTriable: boolean;
  answers: { status: string; about: string; schema: Schema | undefined; example: unknown }[];
}

export interface Field {
  /** Its path, such as `tasks[].name`. */
  path: string;
  type: string;
  isNeeded: boolean;
  about: string;
}

/** The depth to which the fields of a schema are listed. */
const DEPTH_MAX = 3;

export function operations(description: Description): Operation[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => ({
      method: method.toUpperCase(),
      path,
      summary: described.summary ?? '',
      about: described.description ?? '',
      tag: described.tags?.[0] ?? 'other',
      scope: described['x-scope'],
      parameters: (described.parameters ?? []).map((each) => resolved(description, each)),
      isTriable: method === 'get' && 'application/json' in (described.responses?.['200']?.content ?? {}),
      body: described.requestBody?.content?.['application/json']?.schema,
      answers: Object.entries(described.responses ?? {}).map(([status, response]) => {
        const { description: about = '', content = {} } = resolved(description, response);
        const media = content['application/json'] ?? Object.values(content)[0];
        return { status, about, schema: media?.schema, example: media?.example };
      }),
    })),
  );
}

/** The value a reference stands for, or the value itself. */
export function resolved<T extends { $ref?: string }>(description: Description, value: T): T {
  const [, , kind = '', name = ''] = value.$ref?.split('/') ?? [];
  return value.$ref ? ((description.components[kind]?.[name] as T | undefined) ?? value) : value;
}

export function fields(description: Description, schema: Schema, place = '', depth = 0): Field[] {
  const whole = resolved(description, schema);
  if (whole.allOf) return whole.allOf.flatMap((part) => fields(description, part, place, depth));
  if (whole.items && place !== '') return fields(description, whole.items, `${place}[]`, depth);
  return Object.entries(whole.properties ?? {}).flatMap(([name, field]): Field[] => {
    const path = place === '' ? name : `${place}.${name}`;
    const row: Field = {
      path,
      type: typeText(field),
      isNeeded: whole.required?.includes(name) ?? false,
      about: field.description ?? resolved(description, field).description ?? '',
    };
    return depth + 1 < DEPTH_MAX ? [row, ...fields(description, field, path, depth + 1)] : [row];
  });
}

export function typeText(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? '';
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => String(each)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ');
  if (schema.items) return `${typeText(schema.items)}[]`;
  return schema.type === undefined ? 'anything' : [schema.type].flat().join(' | ');
}
