// A tool's JSON Schema as the fields of a form; a type without a field of its own is typed as JSON.

import { t } from '../words/t';

export interface Field {
  name: string;
  kind: 'text' | 'number' | 'flag' | 'choice' | 'words' | 'json';
  isNeeded: boolean;
  about: string;
  choices: string[];
  /** The default. */
  usual: string;
}

interface Property {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
  items?: Property;
}

/** Tools that say nothing about their input take a text. */
const PLAIN = { properties: { input: { type: 'string' } }, required: ['input'] };

export function fields(schema: unknown): Field[] {
  const { properties = {}, required = [] } = (schema ?? PLAIN) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    kind: kindOf(property),
    isNeeded: required.includes(name),
    about: property.description ?? '',
    choices: (property.enum ?? []).map(String),
    usual:
      property.default === undefined
        ? ''
        : typeof property.default === 'string'
          ? property.default
          : JSON.stringify(property.default),
  }));
}

function kindOf({ type, enum: choices, items }: Property): Field['kind'] {
  if (choices?.every((choice) => typeof choice === 'string')) return 'choice';
  const word = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  if (word === 'string') return 'text';
  if (word === 'integer' || word === 'number') return 'number';
  if (word === 'array' && items?.type === 'string') return 'words';
  return word === 'boolean' ? 'flag' : 'json';
}

/** The typed texts as arguments; a mistake in JSON is an error with the field's name. */
export function toArguments(all: readonly Field[], typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const entries = all.flatMap(({ name, kind }): [string, unknown][] => {
    const text = typed[name] ?? '';
    if (text === '') return [];
    if (kind === 'number') return [[name, Number(text)]];
    if (kind === 'flag') return [[name, text === 'true']];
    if (kind === 'words') return [[name, text.split('\n')]];
    return [[name, kind === 'json' ? json(name, text) : text]];
  });
  return Object.fromEntries(entries);
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(t('{name} is not JSON', { name }));
  }
}
