import { describe, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import type { Evm } from '#evm/ports'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { interpreters } from '#test/harness/evm/interpreters'
import { readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'
import { encodeReceipt } from '#types/receipt'

type Recorded = {
  readonly blocks: readonly { readonly hash: string; readonly raw: string; readonly rawReceipts: readonly string[] }[]
}

describe.each(['chains/op-bedrock-to-holocene', 'chains/op-ecotone-to-jovian', 'flashblocks'])('%s', (folder) => {
  const recorded = readSharedJson<Recorded>(`${folder}/l2.json.zst`)
  const { genesis } = parseBaseGenesisNote(recorded)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`${folder}/rollup.json`)), genesis)
  const open = (evm: Evm) =>
    createExecution({ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock: systemClock, log: silentLog })

  it.each(interpreters)('block/execution: executes every block to its recorded hash and receipts, $name', async ({ create }) => {
    const execution = open(create())
    for (const { raw, hash, rawReceipts } of recorded.blocks.slice(1)) {
      const block = decodeBlock(fromHex(raw))
      const payload = payloadOfBlock(block)
      expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
      await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
      using view = execution.view()
      expect(view.heads.latest.hash).toBe(hash)
      expect(view.receipts(view.heads.latest.hash)?.map(({ receipt }) => toHex(encodeReceipt(receipt)))).toEqual(rawReceipts)
    }
  })
})
