// Measures the budgets of the page with many objects; needs a release build and a few minutes.
import flows from './playwright.config';

export default { ...flows, testDir: 'test/budgets', workers: 1, timeout: 600_000 };
