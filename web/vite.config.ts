// Builds to dist/, which the server embeds; every file is also stored compressed, so that the server never compresses.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const COMPRESSED = /\.(js|css|html|svg|json)$/;
const SMALLEST_BYTES = 1024;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const path of files('dist').filter((path) => COMPRESSED.test(path))) {
        const content = readFileSync(path);
        if (content.length < SMALLEST_BYTES) continue;
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      }
    },
  };
}

/** The browser tests that take longest, the longest first. */
const SLOWEST = ['pages', 'extremes', 'language', 'large', 'long', 'editor', 'reviews', 'fit', 'chat', 'runs'];

/** Begins with the slowest files, so that no worker is left alone with one at the end. */
class SlowestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = SLOWEST.findIndex((name) => moduleId.endsWith(`/e2e/${name}.test.ts`));
      return at < 0 ? SLOWEST.length : at;
    };
    return Promise.resolve(files.toSorted((one, other) => place(one) - place(other)));
  }
}

const server = process.env['CONSORT_URL'] ?? 'http://127.0.0.1:7329';

export default defineConfig({
  plugins: [react(), compress()],
  // Inlined files would need `data:` in the content security policy.
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': server, '/openapi.json': server, '/ws': { target: server, ws: true } } },
  test: {
    sequence: { sequencer: SlowestFirst },
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          // A busy machine takes longer; what holds holds then too.
          testTimeout: 300_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
          // Each file has servers and a browser of its own, which wait more than they work.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: { name: 'screenshots', include: ['e2e/screenshots.ts'], testTimeout: 1_800_000, hookTimeout: 60_000 },
      },
    ],
  },
});
