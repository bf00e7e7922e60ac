// Server-sent events from the text of a stream.

export interface ServerEvent {
  /** Position after the event; null when it has none. */
  id: string | null;
  event: string;
  data: string;
}

/** Parses a stream that arrives in chunks of any size. */
export class EventParser {
  #partialLine = '';
  #id: string | null = null;
  #event = '';
  #data: string[] = [];

  push(chunk: string): ServerEvent[] {
    const lines = (this.#partialLine + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#partialLine = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): ServerEvent | null {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'id') this.#id = value;
    else if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    return null;
  }

  #end(): ServerEvent | null {
    const found = { id: this.#id, event: this.#event, data: this.#data.join('\n') };
    this.#id = null;
    this.#event = '';
    this.#data = [];
    return found.id === null && found.data === '' ? null : found;
  }
}
