import type { IncomingHttpHeaders } from 'node:http'

/** `*`: web pages of any origin may ask; a list: those of these origins. */
export type Cors = '*' | readonly string[]

/** The answer to a page that asks first. @see Fetch standard, "CORS-preflight request" */
const preflight: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST, GET',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

/**
 * A web page may send other types without asking us first (no CORS preflight); JSON it may not, and we grant it only where we are told to. What
 * counts is the type before the parameters: `text/plain; json` needs no preflight.
 */
export function isFromForeignPage(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined && !/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** What a page is told of what it may do; nothing when it may nothing. */
export function pageHeaders(cors: Cors | undefined, method: string | undefined, origin: string | undefined): Record<string, string> {
  if (cors === undefined) return {}
  const isListed = cors === '*' || (origin !== undefined && cors.includes(origin))
  const varies: Record<string, string> = cors === '*' ? {} : { vary: 'origin' }
  if (!isListed) return varies
  const granted = { ...varies, 'access-control-allow-origin': cors === '*' ? '*' : (origin ?? '') }
  return method === 'OPTIONS' ? { ...granted, ...preflight } : granted
}
