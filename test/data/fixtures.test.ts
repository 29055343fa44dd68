import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { toHex } from '#lib/hex'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import { readExchanges, readExchangesIn } from '#test/harness/rpc/exchanges'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'

type L1File = { readonly blocks: readonly object[]; readonly blobs: object }
type L2File = { readonly blocks: readonly { readonly hash: string; readonly raw: string; readonly rawReceipts: readonly string[] }[] }

it.each(recordedChains)('fixtures: %s: the committed chain and exchanges are the recorded ones', (name) => {
  const chain = readRecordedChain(name)
  const { blocks, blobs } = readSharedJson<L1File>(`chains/${name}/l1.json.zst`)
  expect([chain.l1.blocks, chain.l1.blobs]).toEqual([blocks, blobs])
  const l2 = readSharedJson<L2File>(`chains/${name}/l2.json.zst`)
  expect(chain.blocks.map(({ hash, raw, receipts }) => ({ hash, raw: toHex(raw), rawReceipts: receipts.map(toHex) }))).toEqual(
    l2.blocks.map(({ hash, raw, rawReceipts }) => ({ hash, raw, rawReceipts })),
  )
  expect(chain.safeHeads).toEqual(readSharedJson(`chains/${name}/safe-heads.json`))
  expect(chain.rollupJson).toEqual(readSharedJson(`chains/${name}/rollup.json`))
  expect(readExchanges(name)).toEqual(readExchangesIn(resolve(sharedDataDir, 'chains', name)))
})
