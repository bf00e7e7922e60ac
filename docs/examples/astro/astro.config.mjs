import node from "@astrojs/node";
import { defineConfig, envField } from "astro/config";

export default defineConfig({
  // Pages are built once, except those with `prerender = false`.
  output: "static",
  adapter: node({ mode: "standalone" }),
  // The tool bar needs storage, which browsers refuse to a frame of another site.
  devToolbar: { enabled: false },
  env: {
    schema: {
      CMS_SERVER: envField.string({ context: "server", access: "secret" }),
      CMS_ORIGIN: envField.string({ context: "server", access: "secret" }),
      CMS_KEY: envField.string({ context: "server", access: "secret" }),
    },
  },
});
