import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'

export type Files = Map<string, Uint8Array>

/** Reads the files of a snapshot. */
export const filesIn = (dir: string): Files =>
  new Map(readdirSync(dir).map((name) => [name, new Uint8Array(readFileSync(join(dir, name)))]))

/** Serves files at any URL, with ranges. @param on called with each request; its response, if any, is the answer */
export function fetchFrom(files: Files, on: (name: string, url: URL) => Response | undefined = () => undefined): typeof fetch {
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input)
    const name = url.pathname.split('/').at(-1) ?? ''
    const other = on(name, url)
    if (other) return other
    const bytes = files.get(name)
    if (bytes === undefined) return new Response(null, { status: 404 })
    const from = Number(/^bytes=(\d+)-$/.exec(new Headers(init?.headers).get('range') ?? '')?.[1] ?? 0)
    const headers = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
    return from > 0 ? new Response(bytes.slice(from), { status: 206, headers }) : new Response(bytes.slice())
  }
  return answer as typeof fetch
}

/** A clock on which waits take no time. */
export function hastyClock(clock: Clock): Clock {
  let waitedMs = 0
  return {
    nowMs: () => clock.nowMs() + waitedMs,
    elapsedMs: () => clock.elapsedMs() + waitedMs,
    delay: async (ms) => {
      waitedMs += ms
    },
    after: () => ({ [Symbol.dispose](): void {} }),
  }
}
