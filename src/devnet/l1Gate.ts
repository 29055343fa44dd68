/** Connection of the nodes to L1. While it is shut, all requests fail as if the port were closed, including pending ones. */
export interface L1Gate {
  readonly fetch: typeof fetch
  shut(): void
  open(): void
}

/** Returns the error of `fetch` on a closed port. */
function gone(url: string): Error {
  const cause = Object.assign(new Error(`connect ECONNREFUSED ${new URL(url).host}`), { code: 'ECONNREFUSED' })
  return new TypeError('fetch failed', { cause })
}

/** Creates a gate. @param urls of L1; requests to other URLs pass */
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
