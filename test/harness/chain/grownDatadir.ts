import { join } from 'node:path'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import type { Payload } from '#types/payload'
import { createManualClock } from '../clock.ts'
import { sharedEvm } from '../evm/sharedEvm.ts'
import { Attributes, chainWith } from './growingChain.ts'
import { RandomDeposits } from './randomDeposits.ts'

export type GrownChain = ReturnType<typeof chainWith>

/** Executes the same blocks of random deposits each time into the chain folder of a data directory. The block `finalized` is safe and finalized. */
export async function growInto(datadir: string, blocks: number, finalized: number): Promise<GrownChain> {
  const chain = chainWith('delta')
  await using kv = openChainKv(join(datadir, 'chain'))
  agreeOnSchema(kv, chainSchema)
  const { config, genesis } = chain
  const execution = createExecution({ kv, evm: sharedEvm, config, genesis, clock: createManualClock(), log: silentLog })
  const deposits = new RandomDeposits(5, false)
  const payloads = [(await execution.payload(0)) as Payload]
  const attributes = new Attributes(config, payloads[0] as Payload)
  for (let number = 1; number <= blocks; number++) {
    const parent = payloads.at(-1) as Payload
    const on = attributes.on(parent.blockHash, number === 1 ? deposits.first() : deposits.next(4))
    const built = await execution.build({ number: parent.blockNumber, hash: parent.blockHash }, on)
    if (built.kind === 'invalid') throw new Error(built.reason)
    attributes.built(built.payload)
    payloads.push(built.payload)
  }
  const refAt = (number: number) => l2RefOf(config, payloads[number] as Payload)
  await execution.setHeads({ unsafe: refAt(blocks), safe: refAt(finalized), finalized: refAt(finalized) })
  await execution.close()
  return chain
}
