import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders } from '#block/execution/senders'
import { verifyPayload } from '#block/validation/verifyPayload'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'

/** Additional gas of the calls in these blocks: 6,900 − 3,450, and 16 · 255 − 16 · 255 / 3 for a MODEXP of 32-byte numbers. */
const [p256More, modexpMore] = [3_450, 2_720]

type Recorded = { readonly blocks: readonly { readonly raw: string }[] }

/**
 * Jovian blocks of another client, executed again under Azul's rules. Fees, headers, deposits, system calls and roots are equal, except in the few
 * blocks that call P256VERIFY or MODEXP, whose gas differs.
 */
it.each([
  ['chains/op-ecotone-to-jovian', 79, 5],
  ['flashblocks', 44, 1],
])("block/execution: gives %s's Jovian blocks the same hash under Azul, in %i cases", async (folder, same, other) => {
  const recorded = readSharedJson<Recorded>(`${folder}/l2.json.zst`)
  const { genesis } = parseBaseGenesisNote(recorded)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`${folder}/rollup.json`)), genesis)
  const { jovian = expect.fail('no Jovian') } = config.schedule
  const evm = createWasmEvm()
  const underAzul = {
    evm,
    config: { ...config, schedule: { ...config.schedule, azul: jovian } },
    senders: createSenders({ maxBytes: 100_000 }),
  }
  const execution = createExecution({ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const results: string[] = []
  for (const { raw } of recorded.blocks.slice(1)) {
    const payload = payloadOfBlock(decodeBlock(fromHex(raw)))
    if (payload.timestamp >= jovian) {
      using view = execution.view()
      const parent = view.parent(payload.parentHash) ?? expect.fail('no parent')
      const result = verifyPayload(underAzul, parent, payload)
      results.push(result.kind === 'executed' ? 'same' : result.reason)
    }
    expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  const different = results.filter((result) => result !== 'same')
  expect([results.length - different.length, different.length]).toEqual([same, other])
  for (const reason of different) {
    const [, without = 0, under = 0] = /^gasUsed is (\d+), (\d+) expected$/.exec(reason) ?? []
    expect([p256More, modexpMore]).toContain(Number(under) - Number(without))
  }
})
