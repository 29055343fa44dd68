/** The way of the nodes to L1. While it is shut every request fails as if nobody listened there, those under way too. */
export interface L1Gate {
  readonly fetch: typeof fetch
  shut(): void
  open(): void
}

/** As `fetch` fails there. */
function gone(url: string): Error {
  const cause = Object.assign(new Error(`connect ECONNREFUSED ${new URL(url).host}`), { code: 'ECONNREFUSED' })
  return new TypeError('fetch failed', { cause })
}

/** @param urls of L1; requests to other places pass */
export function createL1Gate(inner: typeof fetch, urls: readonly string[]): L1Gate {
  const guarded = new Set(urls.map((url) => new URL(url).origin))
  let gate = new AbortController()
  return {
    shut: () => gate.abort(),
    open(): void {
      if (gate.signal.aborted) gate = new AbortController()
    },
    async fetch(input, init): Promise<Response> {
      const url = input instanceof Request ? input.url : String(input)
      if (!guarded.has(new URL(url).origin)) return inner(input, init)
      const { signal: isShut } = gate
      if (isShut.aborted) throw gone(url)
      const signal = init?.signal ? AbortSignal.any([init.signal, isShut]) : isShut
      try {
        return await inner(input, { ...init, signal })
      } catch (error) {
        throw isShut.aborted && init?.signal?.aborted !== true ? gone(url) : error
      }
    },
  }
}
