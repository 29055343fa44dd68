import { expect, it } from 'vitest'
import { childExcessBlobGas } from '#test/ethereum/blobs'
import { ethereumBaseFee } from '#test/ethereum/headerRules'
import type { EthereumSchedule } from '#test/ethereum/schedule'
import { readSharedJson } from '#test/harness/sharedData'
import { headerFromJson } from '#types/headerJson'
import { zeroAddress } from '#types/ids'
import type { Json } from '#types/jsonShape'

const cancun = { target: 3, max: 6, updateFraction: 3_338_477n }
const prague = { target: 6, max: 9, updateFraction: 5_007_716n }
const blocks = { homestead: 0, berlin: 0, london: 0, paris: 0 }
const common = { blocks, forkIdBlocks: [], depositContract: zeroAddress }

/** The recorded L1 chains, made by another implementation of Ethereum's rules. */
it.each<[string, EthereumSchedule]>([
  ['op-bedrock-to-holocene', { ...common, times: { shanghai: 0, cancun: 0 }, blobs: { cancun } }],
  ['op-ecotone-to-jovian', { ...common, times: { shanghai: 0, cancun: 0, prague: 0, osaka: 0 }, blobs: { cancun, prague } }],
])('ethereum/blobs, ethereum/headerRules: computes the L1 headers of %s from their parents', (name, schedule) => {
  const { blocks: recorded } = readSharedJson<{ blocks: { block: Json }[] }>(`chains/${name}/l1.json.zst`)
  const headers = recorded.map(({ block }) => headerFromJson(block))
  const differences = headers.slice(1).flatMap((header, at) => {
    const parent = headers[at]
    if (!parent) return []
    const computed = [ethereumBaseFee(schedule, parent, header.timestamp), childExcessBlobGas(schedule, parent, header.timestamp)]
    const found = [header.baseFeePerGas, header.excessBlobGas]
    return String(computed) === String(found) ? [] : [`${header.number}: ${found}, computed ${computed}`]
  })
  expect(differences).toEqual([])
  expect(headers.length).toBeGreaterThan(60)
})
