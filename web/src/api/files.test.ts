import { expect, it } from 'vitest';
import { mediaType } from './files';

it.each([
  ['notes.MD', '', 'text/markdown'],
  ['table.csv', 'application/vnd.ms-excel', 'text/csv'],
  ['photo.png', 'image/png', 'image/png'],
  ['LICENSE', '', 'text/plain'],
])('the kind of %s, which the browser calls "%s", is %s', (name, type, kind) => {
  expect(mediaType({ name, type })).toBe(kind);
});
