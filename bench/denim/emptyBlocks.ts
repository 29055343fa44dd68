// Time of an empty Denim block over the Engine API of a node in its own process: from the payload to VALID, and until it is the head.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { l2RefOf } from '#chainspec/l2Ref'
import { createEngineHttp } from '#engine/engineHttp'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import type { Payload } from '#types/payload'
import { distribution, type Row } from '../format.ts'
import { inFolder, startNode } from '../rpc/servers.ts'
import { createDenimChain, DenimBlocks } from './chain.ts'

const defaultBlocks = 2_000
/** blocks before the measurement */
const warmBlocks = 300

/** Blocks between two pauses, and their length: the node may commit in a pause. */
const [pauseEvery, pauseMs] = [5, 20]

export function run({ blocks = defaultBlocks }: { readonly blocks?: number }): Promise<readonly Row[]> {
  return inFolder('denim-blocks', async (folder) => {
    const { config, genesisFile, rollupFile, open } = createDenimChain(folder, [])
    const payloads: Payload[] = []
    {
      await using made = await open(join(folder, 'builder'))
      const chain = await DenimBlocks.on(config, made)
      while (payloads.length < warmBlocks + blocks) payloads.push(await chain.add())
    }
    const datadir = join(folder, 'empty')
    mkdirSync(datadir)
    await using node = await startNode({ folder, genesisFile, rollupFile, datadir }, 1)
    const secret = fromHex(`0x${readFileSync(node.jwtFile, 'latin1').trim().replace(/^0x/, '')}`)
    const deps = { fetch, clock: systemClock, log: silentLog }
    const engine = createEngineHttp(deps, { url: node.engineUrl, jwtSecret: () => secret, config, timeoutMs: 10_000 })
    const labels = await engine.heads()
    const [valid, head]: [number[], number[]] = [[], []]
    for (const [at, payload] of payloads.entries()) {
      const startMs = performance.now()
      const inserted = await engine.insert(payload)
      const validMs = performance.now() - startMs
      if (inserted.kind === 'invalid') throw new Error(inserted.reason)
      await engine.setHeads({ ...labels, unsafe: l2RefOf(config, payload) })
      if (at >= warmBlocks) {
        valid.push(validMs)
        head.push(performance.now() - startMs)
      }
      if (at % pauseEvery === 0) await systemClock.delay(pauseMs)
    }
    const name = (what: string): string => `empty Denim block over the Engine API: ${what}`
    return [
      distribution(name('newPayloadV4 until VALID'), 'ms, less is better', valid),
      distribution(name('until it is the head, forkchoiceUpdated included'), 'ms, less is better', head),
    ]
  })
}
