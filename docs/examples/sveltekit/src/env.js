import { defineEnvVars } from "@sveltejs/kit/env";

export const variables = defineEnvVars({ CMS_SERVER: {}, CMS_ORIGIN: {}, CMS_KEY: {} });
