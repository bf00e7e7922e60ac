// The Retry-After of a rate limit: until it ends, another attempt is refused.
import type { Problem } from '../../api/problem';
import { timeOfDay } from '../../text/format';

/** The longest delay that a timer of the browser can have. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export class RetryAfter {
  /** When the next attempt is allowed; null if it is allowed now. */
  until: Date | null = $state(null);

  /** Begins a pause when the server asks for one. */
  read(problem: Problem | null): void {
    if (problem?.status !== 429) return;
    const milliseconds = Math.max(1, problem.retryAfter ?? 1) * 1000;
    this.until = new Date(Date.now() + milliseconds);
    setTimeout(() => (this.until = null), Math.min(milliseconds, MAX_TIMEOUT_MS));
  }

  get time(): string {
    return this.until ? timeOfDay(this.until) : '';
  }
}
