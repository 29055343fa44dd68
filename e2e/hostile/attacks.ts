import { WebSocket } from 'ws'
import { rpcCall } from '#test/harness/process/cliProcess'
import { signJwt } from '../../src/lib/jwt.ts'
import { repeat } from './attackers.ts'
import { hostileBlock, loopingDepositHex } from './hostileBlocks.ts'
import { attackerAddress, postAsAttacker, slowLoris } from './sockets.ts'
import type { Victims } from './victims.ts'

/** One attack, from now until the signal. Resolves with how often it struck. */
export type Attack = { readonly name: string; readonly run: (victims: Victims, signal: AbortSignal) => Promise<number> }

const portOf = (url: string): number => Number(new URL(url).port)
const nestedMb = 15
const nestedBody = Buffer.alloc(nestedMb * 2 ** 20, '[')
const json = (method: string, params: readonly unknown[], id = 1): string => JSON.stringify({ jsonrpc: '2.0', id, method, params })
const hex = (n: number, bytes: number): string => `0x${n.toString(16).padStart(2 * bytes, '0')}`

/** The ports of the verifier and of the devnet that speak HTTP. */
function httpPorts({ ports, devnet }: Victims): readonly number[] {
  const { rpc, verifier, rollup, control } = devnet.started.urls as Readonly<Record<string, string>>
  const devnetPorts = [rpc, verifier, rollup, control].filter((url) => url !== undefined).map(portOf)
  return [ports.http, ports.rollup, ports.engine, ports.executionMetrics, ports.consensusMetrics, ...ports.health, ...devnetPorts]
}

const engineHeaders = ({ jwtSecret }: Victims): readonly string[] => [
  `Authorization: Bearer ${signJwt(jwtSecret, Math.floor(Date.now() / 1_000))}`,
]

const atOnce = (count: number, act: (i: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, i) => act(i)))

/** Opens a WebSocket as an attacker, runs, and closes it. */
async function overSocket(url: string, n: number, ms: number, run: (socket: WebSocket) => void): Promise<void> {
  const socket = new WebSocket(url, { localAddress: attackerAddress(n), perMessageDeflate: false })
  await new Promise<void>((resolve) => {
    socket.on('error', () => resolve())
    socket.on('close', () => resolve())
    socket.on('open', () => {
      run(socket)
      setTimeout(resolve, ms)
    })
  })
  socket.terminate()
}

/** A filter of 5,000 values; n makes filters different. */
function greedyFilter(n: number): unknown {
  const address = Array.from({ length: 1_000 }, (_, i) => hex(n * 1_000 + i, 20))
  const topics = Array.from({ length: 4 }, (_, topic) =>
    Array.from({ length: 1_000 }, (_unused, i) => hex((n * 4 + topic) * 1_000 + i, 32)),
  )
  return { address, topics }
}

/** Requests with large filters, made once so that the attacker's own work stays small. */
const greedyRequests = {
  eth_subscribe: Array.from({ length: 20 }, (_, n) => json('eth_subscribe', ['logs', greedyFilter(n)], n)),
  eth_newFilter: Array.from({ length: 20 }, (_, n) => json('eth_newFilter', [greedyFilter(n)], n)),
}
const greedy = (method: keyof typeof greedyRequests, n: number): string => greedyRequests[method][n % 20] ?? ''

const loopingCall = [{ to: `0x${'77'.repeat(20)}`, gas: '0x1c9c380' }, 'latest', { [`0x${'77'.repeat(20)}`]: { code: '0x5b600056' } }]

export const attacks: readonly Attack[] = [
  {
    name: 'nested JSON bodies, ten at once',
    run: (victims, signal) =>
      repeat(3_000, signal, async (n) => {
        const ports = httpPorts(victims)
        const port = ports[n % ports.length] ?? 0
        const headers = port === victims.ports.engine ? engineHeaders(victims) : []
        await Promise.all(Array.from({ length: 10 }, (_, i) => postAsAttacker(port, i, nestedBody, headers)))
      }),
  },
  {
    name: 'slow connections on each port',
    run: async (victims, signal) => {
      const { ports, devnet } = victims
      const urls = devnet.started.urls as Readonly<Record<string, string>>
      const all = [...httpPorts(victims), ports.ws, ...['ws', 'verifierWs', 'flashblocks'].flatMap((name) => urls[name] ?? []).map(portOf)]
      await Promise.all(all.map((port) => slowLoris(port, 600, signal)))
      return all.length
    },
  },
  {
    name: 'newPayload of a looping block, authenticated',
    run: (victims, signal) =>
      repeat(7_000, signal, async (n) => {
        const { newPayload } = await hostileBlock(victims.config, victims.devnet.started.urls.rpc)
        await postAsAttacker(victims.ports.engine, n, json('engine_newPayloadV4', newPayload), engineHeaders(victims))
      }),
  },
  {
    name: 'admin_postUnsafePayload of a looping block',
    run: (victims, signal) =>
      repeat(11_000, signal, async (n) => {
        const { envelope } = await hostileBlock(victims.config, victims.devnet.started.urls.rpc)
        await postAsAttacker(victims.ports.rollup, n, json('admin_postUnsafePayload', [envelope]))
      }),
  },
  {
    name: 'log subscriptions with large filters',
    run: (victims, signal) =>
      repeat(200, signal, (n) =>
        atOnce(8, (i) =>
          overSocket(`ws://127.0.0.1:${victims.ports.ws}`, n + i, 5_000, (socket) => {
            for (let id = 0; id < 10; id++) socket.send(greedy('eth_subscribe', 10 * i + id))
          }),
        ),
      ),
  },
  {
    name: 'filters with large criteria',
    run: (victims, signal) => repeat(500, signal, (n) => postAsAttacker(victims.ports.http, n, greedy('eth_newFilter', n))),
  },
  {
    name: 'calls that loop',
    run: (victims, signal) =>
      repeat(1_000, signal, (n) =>
        Promise.all([0, 1].map((i) => postAsAttacker(victims.ports.http, n + i, json('eth_call', loopingCall)))),
      ),
  },
  {
    name: 'flashblock subscribers that never answer',
    run: async ({ devnet }, signal) => {
      const url = (devnet.started.urls as Readonly<Record<string, string>>)['flashblocks']
      if (url === undefined) return 0
      return repeat(100, signal, () => atOnce(150, (i) => overSocket(url, i % 3, 10_000, (socket) => socket.pause())))
    },
  },
  {
    name: 'raw transactions that are deposits',
    run: (victims, signal) =>
      repeat(1_000, signal, async () => {
        await rpcCall(`http://127.0.0.1:${victims.ports.http}`, 'eth_sendRawTransaction', [loopingDepositHex])
      }),
  },
]
