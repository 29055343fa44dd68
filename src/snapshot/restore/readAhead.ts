import type { ChunkEntry } from '../format/manifest.ts'

/** Chunks read at the same time, and bytes of chunks that are read and not used yet. */
const most = { chunks: 8, bytes: 192 * 2 ** 20 }

/**
 * Reads chunks in parallel and yields them in order. Memory: bounded, or one chunk. Its end, also by an error or by `return`, aborts the reads under way.
 * @throws as `read`, at the chunk's turn
 */
export async function* readAhead(
  entries: readonly ChunkEntry[],
  read: (entry: ChunkEntry, signal: AbortSignal) => Promise<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly entry: ChunkEntry; readonly bytes: Uint8Array }> {
  const end = new AbortController()
  try {
    yield* readAll(entries, (entry) => read(entry, AbortSignal.any([signal, end.signal])))
  } finally {
    end.abort()
  }
}

async function* readAll(entries: readonly ChunkEntry[], read: (entry: ChunkEntry) => Promise<Uint8Array>): ReturnType<typeof readAhead> {
  const started: { readonly entry: ChunkEntry; readonly bytes: Promise<Uint8Array> }[] = []
  let waiting = 0
  let next = 0
  for (;;) {
    for (let entry = entries[next]; entry && started.length < most.chunks; entry = entries[next]) {
      const cost = entry.size + entry.rawSize
      if (started.length > 0 && waiting + cost > most.bytes) break
      const bytes = read(entry)
      // it is reported at its turn, also when another one fails first
      bytes.catch(() => {})
      started.push({ entry, bytes })
      waiting += cost
      next++
    }
    const first = started.shift()
    if (first === undefined) return
    yield { entry: first.entry, bytes: await first.bytes }
    waiting -= first.entry.size + first.entry.rawSize
  }
}
