import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// The built files are part of the Go program, so they have to be the same wherever they are built:
// nothing in them follows from the folder, the time or the machine.
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [svelte()],
  build: {
    outDir: '../internal/console/dist',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // a file of its own keeps script-src and style-src at 'self'
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        hashCharacters: 'base36',
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  worker: { format: 'es', rollupOptions: { output: { hashCharacters: 'base36', entryFileNames: 'assets/[name]-[hash].js' } } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  test: { include: ['test/**/*.test.ts'], environment: 'node' },
});
