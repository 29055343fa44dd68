import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { payloadOfBlockJson } from '#engine/blockJson'
import { fromHex, type Hex } from '#lib/hex'
import { parseExchanges } from '#test/harness/rpc/exchanges'
import { readShared, readSharedJson, sharedDataDir } from '#test/harness/sharedData'
import { decodeBlock } from '#types/block'

type BlockJson = { readonly hash: Hex; readonly number: Hex; readonly transactions: readonly unknown[] }

/** Returns the recorded blocks with full transactions. */
function recordedBlocks(chain: string): readonly BlockJson[] {
  const folder = `chains/${chain}/rpc`
  const files = readdirSync(join(sharedDataDir, folder)).filter((name) => name.startsWith('eth_getBlockBy'))
  const exchanges = files.flatMap((name) => parseExchanges(readShared(`${folder}/${name}`).toString('utf8')))
  const results = exchanges.flatMap(({ outcome }) =>
    'result' in outcome && outcome.result !== null ? [outcome.result as never as BlockJson] : [],
  )
  return results.filter(({ transactions }) => transactions.every((tx) => typeof tx === 'object'))
}

it.each([
  ['op-bedrock-to-holocene', 'op-geth'],
  ['op-ecotone-to-jovian', 'base-reth-node'],
])('engine/blockJson: %s: decodes each block of %s to the payload of the sealed block', (chain) => {
  const note = readSharedJson<{ blocks: { raw: Hex }[] }>(`chains/${chain}/l2.json.zst`)
  const { blocks } = note
  const recorded = recordedBlocks(chain)
  const types = new Set<number>()
  for (const json of recorded) {
    const sealed = blocks[Number(json.number)] ?? expect.fail(`block ${json.number} not found`)
    const payload = payloadOfBlockJson(json)
    expect(payload.blockHash).toBe(json.hash)
    expect(payload).toEqual(payloadOfBlock(decodeBlock(fromHex(sealed.raw))))
    for (const [type = 0] of payload.transactions) types.add(type < 0x80 ? type : 0)
  }
  expect(recorded.length).toBeGreaterThan(18)
  expect(types).toEqual(new Set([0, 1, 2, 0x7e]))
})
