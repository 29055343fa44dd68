import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Effect of a proxy on its connections. `cut`: resets all, old and new. `stall`: holds data and connections until the mode changes. `slow`: limits
 * the bytes per second in each direction. `garble`: changes one hexadecimal digit after the first quarter of each piece of a response, so that
 * JSON stays valid and a hash does not. `truncate`: ends a response in the middle.
 */
export type ProxyMode =
  | { readonly kind: 'pass' | 'cut' | 'stall' | 'garble' | 'truncate' }
  | { readonly kind: 'slow'; readonly bytesPerSec: number }

/** TCP proxy on 127.0.0.1. Its address stays the same while its target changes. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  readonly mode: ProxyMode
  setMode(mode: ProxyMode): void
  /** Sets the target of new connections. Without a target, connections are reset as in `cut`. */
  setTarget(port: number | undefined): void
  /** Number of connections accepted so far, including connections that were reset at once. */
  readonly accepted: number
}

const digitOf = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)

/** Changes one lower-case hexadecimal digit that is between two others. */
function garbled(chunk: Uint8Array): Uint8Array {
  const at = chunk.findIndex((byte, i) => i > chunk.length / 4 && digitOf(byte) && digitOf(chunk[i - 1] ?? 0) && digitOf(chunk[i + 1] ?? 0))
  if (at < 0) return chunk
  const other = Uint8Array.from(chunk)
  other[at] = chunk[at] === 0x31 ? 0x32 : 0x31
  return other
}

export async function startProxy(target?: number): Promise<TcpProxy> {
  let mode: ProxyMode = { kind: 'pass' }
  let to = target
  let accepted = 0
  const sockets = new Set<Socket>()
  let moved = Promise.withResolvers<void>()

  async function passes(): Promise<void> {
    while (mode.kind === 'stall') await moved.promise
  }

  async function shape(chunk: Uint8Array, direction: 'up' | 'down'): Promise<Uint8Array> {
    await passes()
    if (mode.kind === 'slow') await delay((chunk.length / mode.bytesPerSec) * 1_000)
    if (direction === 'up') return chunk
    if (mode.kind === 'garble') return garbled(chunk)
    return mode.kind === 'truncate' ? chunk.subarray(0, chunk.length >> 1) : chunk
  }

  function shaper(direction: 'up' | 'down'): Transform {
    return new Transform({
      transform(chunk: Uint8Array, _encoding, done: TransformCallback): void {
        shape(chunk, direction).then((shaped) => {
          this.push(shaped)
          done(shaped.length < chunk.length ? new Error('truncated') : null)
        }, done)
      },
    })
  }

  async function carry(client: Socket): Promise<void> {
    await passes()
    if (mode.kind === 'cut' || to === undefined) return void client.resetAndDestroy()
    const upstream = connect({ host: '127.0.0.1', port: to })
    sockets.add(upstream)
    try {
      await Promise.all([pipeline(client, shaper('up'), upstream), pipeline(upstream, shaper('down'), client)])
    } finally {
      sockets.delete(upstream)
      upstream.destroy()
      client.destroy()
    }
  }

  const server = createServer((client) => {
    accepted++
    sockets.add(client)
    client.on('error', () => {})
    client.on('close', () => sockets.delete(client))
    // a broken connection is expected here: both ends notice it themselves
    carry(client).catch(() => client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const dropAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const signal = (): void => {
    moved.resolve()
    moved = Promise.withResolvers()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get mode() {
      return mode
    },
    get accepted() {
      return accepted
    },
    setMode(next) {
      mode = next
      if (next.kind === 'cut') dropAll()
      signal()
    },
    setTarget(port) {
      to = port
      dropAll()
    },
    async [Symbol.asyncDispose]() {
      mode = { kind: 'cut' }
      signal()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      dropAll()
      await closed
    },
  }
}
