/** Errors of requests, by what a program can do about them. */

/** A response that is not a success. */
export class CmsError extends Error {
  override name = "CmsError";

  constructor(
    message: string,
    /** The status of the response. */
    readonly status: number,
    /** The method and the path of the request. */
    readonly request: string,
    /** The body: parsed if it is JSON, otherwise text. */
    readonly body: unknown,
  ) {
    super(`${request}: ${status} ${message}`);
  }
}

/** 400: the values are not valid. */
export class ValidationError extends CmsError {
  override name = "ValidationError";

  constructor(
    status: number,
    request: string,
    /** Messages by property path, such as `title` or `opening[0].hours`. */
    readonly errors: Readonly<Record<string, readonly string[]>>,
  ) {
    super(sentence(errors), status, request, errors);
  }
}

/** 400: the action is not allowed in the state of the object, for example deleting one that is used. */
export class RefusedError extends CmsError {
  override name = "RefusedError";

  constructor(
    status: number,
    request: string,
    readonly reasons: readonly string[],
  ) {
    super(reasons.join(" "), status, request, { errors: reasons });
  }
}

/** 401 and 403: the key is missing or unknown, or does not allow the request. */
export class AccessError extends CmsError {
  override name = "AccessError";
}

/** 404: the type or the object does not exist, or the request does not see it. */
export class NotFoundError extends CmsError {
  override name = "NotFoundError";
}

/** 412: the object has changed since it was read. */
export class ConflictError extends CmsError {
  override name = "ConflictError";
}

/** 410: changes after the position are no longer available. Read all content, then continue from a new position. */
export class ExpiredPositionError extends CmsError {
  override name = "ExpiredPositionError";
}

/** 429 and 503: too many requests, or a server that is overloaded or shutting down. The request had no effect. */
export class UnavailableError extends CmsError {
  override name = "UnavailableError";

  constructor(
    message: string,
    status: number,
    request: string,
    body: unknown,
    /** The number of seconds after which the server expects the next request. */
    readonly retryAfter: number | undefined,
  ) {
    super(message, status, request, body);
  }
}

/** A success without JSON, for example a page of a proxy or of another server. */
export class UnexpectedResponseError extends CmsError {
  override name = "UnexpectedResponseError";
}

/** Reads the error of a response. */
export async function errorOf(response: Response, request: string, hasNoValues: boolean): Promise<CmsError> {
  const { status } = response;
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may respond with a page.
  }
  if (status === 400 && isMessages(body)) {
    const { errors: reasons, ...others } = body;
    // If the request sends property values, `errors` may be the name of an invalid property instead.
    const isRefusal = hasNoValues && reasons !== undefined && Object.keys(others).length === 0;
    return isRefusal ? new RefusedError(status, request, reasons) : new ValidationError(status, request, body);
  }
  const message = messageOf(body) ?? (response.statusText || "no message");
  switch (status) {
    case 401:
    case 403:
      return new AccessError(message, status, request, body);
    case 404:
      return new NotFoundError(message, status, request, body);
    case 410:
      return new ExpiredPositionError(message, status, request, body);
    case 412:
      return new ConflictError(message, status, request, body);
    case 429:
    case 503:
      return new UnavailableError(message, status, request, body, secondsUntil(response.headers.get("retry-after")));
    default:
      return new CmsError(message, status, request, body);
  }
}

function isMessages(body: unknown): body is Record<string, string[]> {
  const isList = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
  return typeof body === "object" && body !== null && !Array.isArray(body) && Object.values(body).every(isList);
}

function messageOf(body: unknown): string | undefined {
  const message = typeof body === "object" && body !== null ? (body as { message?: unknown }).message : undefined;
  return typeof message === "string" ? message : undefined;
}

function sentence(errors: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(errors)
    .map(([path, messages]) => `${path}: ${messages.join(", ")}`)
    .join("; ");
}

/** Reads `Retry-After`: seconds, or a date. */
function secondsUntil(header: string | null): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
