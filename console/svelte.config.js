import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    runes: true,
    // A class name follows from the style itself, not from the folder it is built in.
    cssHash: ({ hash, css }) => `fm-${hash(css)}`,
  },
};
