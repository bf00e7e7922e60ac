// Flows run in Debian's Chromium against the built binary, each on a data directory of its own.
import { execSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';

function chromium(): string {
  return (
    process.env.CHROMIUM ??
    execSync('command -v chromium-headless-shell || command -v chromium', { encoding: 'utf8' }).trim()
  );
}

export default defineConfig({
  testDir: 'test/flows',
  outputDir: 'test/results',
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  // A retry helps if a busy machine has delayed a page; an error of the page fails each time.
  retries: process.env.CI ? 2 : 0,
  expect: { timeout: 10_000 },
  reporter: process.env.CI ? 'line' : 'list',
  use: {
    locale: 'en-GB',
    timezoneId: 'Europe/Warsaw',
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: chromium(),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
