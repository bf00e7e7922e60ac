// PickerSearch: the results of a picker while the user types: waits for a pause, drops late responses, reads
// the next page on request.
import { messageOf } from '../api/problem';
import { searchSummaries, type FoundSummary, type SummaryQuery } from './summary';

const TYPING_DELAY_MS = 120;
const PAGE_SIZE = 20;

export class PickerSearch {
  results: FoundSummary[] = $state.raw([]);
  total = $state(0);
  loading = $state(false);
  /** Why the last search failed; empty when it did not. */
  problem = $state('');
  private page = 0;
  private hasMore = false;
  private text = '';
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | undefined;

  /** `scope` says where to search; it is read with each search. */
  constructor(
    private readonly scope: () => Pick<SummaryQuery, 'types' | 'filters' | 'withMatches'>,
    /** Orders the results of one page; by default they keep the order of the server. */
    private readonly rank: (found: FoundSummary[], text: string) => FoundSummary[] = (found) => found,
  ) {}

  /** Searches for a text after a pause, for an empty text immediately. */
  search(text: string): void {
    this.text = text;
    // A late response for the previous text must not end the wait for this one.
    this.request?.abort();
    this.loading = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(1), text === '' ? 0 : TYPING_DELAY_MS);
  }

  /** Reads the next page, when there is one. */
  more(): void {
    if (!this.loading && this.hasMore) void this.read(this.page + 1);
  }

  /** Ends a running search. */
  stop(): void {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  private async read(page: number): Promise<void> {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.loading = true;
    try {
      const result = await searchSummaries({
        ...this.scope(),
        text: this.text,
        page,
        limit: PAGE_SIZE,
        signal: request.signal,
      });
      if (request.signal.aborted) return;
      this.loading = false;
      if ('problem' in result) {
        this.problem = messageOf(result.problem);
        // Results of an earlier text must not be chosen for this one.
        if (page === 1) this.results = [];
        return;
      }
      const { total, more } = result.data;
      const summaries = this.rank(result.data.summaries, this.text);
      this.problem = '';
      this.page = page;
      this.total = total;
      this.hasMore = more;
      this.results = page === 1 ? summaries : withNew(this.results, summaries);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }
}

/** Objects move between pages while others are edited: each is shown once. */
function withNew(shown: FoundSummary[], next: FoundSummary[]): FoundSummary[] {
  const known = new Set(shown.map(({ type, id }) => `${type}/${id}`));
  return [...shown, ...next.filter(({ type, id }) => !known.has(`${type}/${id}`))];
}
