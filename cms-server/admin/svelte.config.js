// Compiler settings of the page, read by Vite, svelte-check and the linter.
export default {
  compilerOptions: { runes: true },
};
