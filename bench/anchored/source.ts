// A node with a generated state, whose chain grows by blocks of 8 Mgas.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { l2RefOf } from '#chainspec/l2Ref'
import { createEngineHttp } from '#engine/engineHttp'
import { parsePayload } from '#engine/payloadJson'
import type { Engine } from '#engine/port'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { defaultBackoff, retry } from '#lib/retry'
import type { Payload } from '#types/payload'
import { chainFlags } from '../../e2e/crash/snapshotRuns.ts'
import { createNodeProcess, type NodeProcess } from '../../e2e/nodeProcess.ts'
import { makeBlocks } from '../state/blocks.ts'
import type { StateWorld } from '../state/world.ts'

/** Distance of the finalized head. */
export const finalizedBelow = 10
const secret = '11'.repeat(32)

export interface GrowingSource extends AsyncDisposable {
  readonly world: StateWorld
  readonly node: NodeProcess
  /** blocks of the chain in their order, from the first one on */
  readonly payloads: readonly Payload[]
  /** number of the head */
  readonly head: number
  /** Makes the next block the head. @returns false: there is none */
  grow(): Promise<boolean>
  /** Grows by a block at each interval until the signal is aborted or no block is left. */
  growEvery(ms: number, signal: AbortSignal): Promise<void>
}

async function readPayloads(path: string): Promise<readonly Payload[]> {
  const payloads: Payload[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { p, root } = JSON.parse(line) as { p: unknown; root: never }
    payloads.push(parsePayload(p, root))
  }
  return payloads
}

/**
 * Starts a node with a generated state, and makes its blocks if they are not there. Its chain cannot be shortened afterwards: use a copy of the state.
 * @param folder of the node; the state is in the directory `data` in it
 */
export async function startSource(folder: string, blocks: number, world: StateWorld): Promise<GrowingSource> {
  const { path } = await makeBlocks(world, blocks)
  const payloads = await readPayloads(path)
  const { config } = world
  const args = ['--mode', 'execution', ...chainFlags(world), '--jwt.secret', secret, '--http.api', 'all', '--rpc.workers', '1']
  const node = await createNodeProcess({ name: 'source', folder, args, serves: ['http', 'engine'] })
  node.spawn()
  await node.up()
  const engine: Engine = createEngineHttp(
    { fetch, clock: systemClock, log: silentLog },
    { url: node.url('engine'), jwtSecret: () => fromHex(`0x${secret}`), config, timeoutMs: 60_000 },
  )
  const genesis = await engine.payload(config.genesis.l2.number)
  if (genesis === undefined) throw new Error('the source has no genesis block')
  const first = l2RefOf(config, genesis)
  let head = 0
  const { signal } = new AbortController()
  const self: GrowingSource = {
    ...{ world, node, payloads },
    get head() {
      return head
    },
    async grow() {
      const payload = payloads[head]
      if (payload === undefined) return false
      const settled = payloads[head - finalizedBelow]
      const finalized = settled ? l2RefOf(config, settled) : first
      await retry({ clock: systemClock, random: Math.random }, { backoff: defaultBackoff, signal }, async () => {
        const result = await engine.insert(payload)
        if (result.kind === 'invalid') throw new Error(result.reason)
        await engine.setHeads({ unsafe: l2RefOf(config, payload), safe: finalized, finalized })
      })
      head = payload.blockNumber
      return true
    },
    async growEvery(ms, signal) {
      for (let dueMs = performance.now(); !signal.aborted; ) {
        if (!(await self.grow())) return
        dueMs += ms
        await delay(Math.max(0, dueMs - performance.now()))
      }
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
    },
  }
  return self
}
