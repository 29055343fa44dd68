import { connect, type Socket } from 'node:net'
import { type Identify, identify } from '@libp2p/identify'
import type { Libp2p, Stream, StreamHandler } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { type TCPSocketOptions, tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { concatBytes } from '#lib/bytes'

export const gossipProtocol = '/meshsub/1.1.0'

function uvarint(value: number): Uint8Array {
  const out: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80)
  return Uint8Array.from([...out, rest])
}

/** A length-delimited field of a protobuf message. */
const field = (number: number, bytes: Uint8Array): Uint8Array => concatBytes(Uint8Array.of((number << 3) | 2), uvarint(bytes.length), bytes)
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Returns an RPC frame with its length in front. @see libp2p specs, pubsub/README.md, "The RPC" */
export const frameOf = (...fields: readonly Uint8Array[]): Uint8Array => {
  const rpc = concatBytes(...fields)
  return concatBytes(uvarint(rpc.length), rpc)
}
export const subscription = (topic: string): Uint8Array => field(1, concatBytes(Uint8Array.of(0x08, 1), field(2, text(topic))))
export const message = (topic: string, data: Uint8Array): Uint8Array => field(2, concatBytes(field(2, data), field(4, text(topic))))
export const graft = (topic: string): Uint8Array => field(3, field(3, field(1, text(topic))))

/** A peer whose gossip frames are made by hand. */
export interface Attacker extends AsyncDisposable {
  readonly peerId: string
  readonly host: Libp2p<{ identify: Identify }>
  readonly stream: Stream
  /** Writes a frame; waits while the victim does not read. */
  send(frame: Uint8Array): Promise<void>
}

/**
 * Connects to a victim and subscribes to its topics.
 * @param from address of this machine from which it connects
 * @param handlers further protocols that it serves
 */
export async function connectAttacker(
  victim: string,
  topics: readonly string[],
  from = '127.0.0.2',
  handlers: Readonly<Record<string, StreamHandler>> = {},
): Promise<Attacker> {
  const host = await createLibp2p({
    addresses: { listen: [] },
    // passed on to the socket, although the type lacks it
    transports: [tcp({ dialOpts: { localAddress: from } as TCPSocketOptions })],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify({ protocolPrefix: 'ipfs' }) },
  })
  // the victim sends its own frames over a stream that it opens
  await host.handle(gossipProtocol, drain)
  for (const [protocol, handler] of Object.entries(handlers)) await host.handle(protocol, handler)
  try {
    const stream = await host.dialProtocol(multiaddr(victim), gossipProtocol, { signal: AbortSignal.timeout(10_000) })
    const send = async (frame: Uint8Array): Promise<void> => {
      if (!stream.send(frame)) await stream.onDrain()
    }
    await send(frameOf(...topics.map(subscription)))
    return { peerId: host.peerId.toString(), host, stream, send, [Symbol.asyncDispose]: async () => await host.stop() }
  } catch (error) {
    await host.stop()
    throw error
  }
}

async function drain(stream: Stream): Promise<void> {
  try {
    for await (const _ of stream) {
      // read and forgotten
    }
  } catch {
    // the victim has closed the connection
  }
}

/** Opens TCP connections that never send a byte. */
export function halfOpen(port: number, count: number, from = '127.0.0.2'): Disposable {
  const sockets: Socket[] = Array.from({ length: count }, () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from })
    socket.on('error', () => {})
    return socket
  })
  return {
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A snappy block of a few hundred KB that decompresses to zeros: one literal, then copies of 64 bytes. */
export function zerosBlock(length: number): Uint8Array {
  const copies = Math.ceil((length - 1) / 64)
  const header = [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, ((length >> 14) & 0x7f) | 0x80, length >> 21, 0, 0]
  const block = new Uint8Array(header.length + 3 * copies)
  block.set(header)
  for (let i = 0; i < copies; i++) {
    const size = Math.min(64, length - 1 - 64 * i)
    block.set([((size - 1) << 2) | 2, 1, 0], header.length + 3 * i)
  }
  return block
}
