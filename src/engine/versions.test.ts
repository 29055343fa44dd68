import { describe, expect, it } from 'vitest'
import { type ForkSchedule, forks } from '#chainspec/forks'
import { emptyRoot, zeroAddress, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import {
  attributesRefusal,
  type ForkchoiceVersion,
  type GetPayloadVersion,
  getPayloadRefusal,
  methodVersionsAt,
  type NewPayloadVersion,
  newPayloadRefusal,
} from './versions.ts'

/** Each fork is 100 s after the fork before it. */
const schedule: ForkSchedule = Object.fromEntries(forks.map((fork, index) => [fork, index * 100]))
const at = (fork: (typeof forks)[number]): number => schedule[fork] ?? expect.fail(fork)

const payloadAt = (timestamp: number): Payload => ({
  parentHash: zeroHash,
  feeRecipient: zeroAddress,
  stateRoot: zeroHash,
  receiptsRoot: zeroHash,
  logsBloom: new Uint8Array(256),
  prevRandao: zeroHash,
  blockNumber: 1,
  gasLimit: 1n,
  gasUsed: 0n,
  timestamp,
  extraData: new Uint8Array(0),
  baseFeePerGas: 1n,
  blockHash: zeroHash,
  transactions: [],
  ...(timestamp >= at('canyon') && { withdrawals: [] }),
  ...(timestamp >= at('ecotone') && { blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: zeroHash }),
  ...(timestamp >= at('isthmus') && { withdrawalsRoot: emptyRoot }),
})
const attributesAt = (timestamp: number): PayloadAttributes => ({
  timestamp,
  prevRandao: zeroHash,
  suggestedFeeRecipient: zeroAddress,
  transactions: [],
  noTxPool: true,
  gasLimit: 1n,
  ...(timestamp >= at('canyon') && { withdrawals: [] }),
  ...(timestamp >= at('ecotone') && { parentBeaconBlockRoot: zeroHash }),
  ...(timestamp >= at('holocene') && { eip1559Params: new Uint8Array(8) }),
  ...(timestamp >= at('jovian') && { minBaseFee: 0n }),
})

/** Versions that accept a block of each time: the last second before an activation, and the activation. */
const rows: readonly [string, number, readonly NewPayloadVersion[], readonly ForkchoiceVersion[], readonly GetPayloadVersion[]][] = [
  ['Bedrock', at('canyon') - 1, [1, 2], [1, 2], [1, 2]],
  ['Canyon', at('canyon'), [2], [2], [2]],
  ['before Ecotone', at('ecotone') - 1, [2], [2], [2]],
  ['Ecotone', at('ecotone'), [3], [3], [3]],
  ['before Isthmus', at('isthmus') - 1, [3], [3], [3]],
  ['Isthmus', at('isthmus'), [4], [3], [4]],
  ['before Azul', at('azul') - 1, [4], [3], [4]],
  ['Azul', at('azul'), [4], [3], [5]],
]

describe('engine/versions', () => {
  it.each(rows)('%s: refuses versions of another fork', (_name, time, newPayload, forkchoice, getPayload) => {
    for (const version of [1, 2, 3, 4, 5] as const) {
      const refusal = newPayloadRefusal(schedule, version, payloadAt(time))
      expect(refusal?.kind).toBe(newPayload.includes(version) ? undefined : 'unsupported-fork')
      expect(getPayloadRefusal(schedule, version, time)?.kind).toBe(getPayload.includes(version) ? undefined : 'unsupported-fork')
    }
    for (const version of [1, 2, 3] as const) {
      const refusal = attributesRefusal(schedule, version, attributesAt(time))
      expect(refusal?.kind).toBe(forkchoice.includes(version) ? undefined : 'unsupported-fork')
    }
  })

  it.each(rows)('%s: the versions that the client uses are accepted', (_name, time, newPayload, forkchoice, getPayload) => {
    const versions = methodVersionsAt(schedule, time)
    expect(newPayload).toContain(versions.newPayload)
    expect(forkchoice).toContain(versions.forkchoiceUpdated)
    expect(getPayload).toContain(versions.getPayload)
  })

  it.each(rows)('%s: refuses and names a missing or additional field', (_name, time) => {
    const { newPayload, forkchoiceUpdated } = methodVersionsAt(schedule, time)
    const everything = { ...payloadAt(at('azul')), timestamp: time }
    for (const field of ['withdrawals', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'withdrawalsRoot'] as const) {
      const payload = payloadAt(time)
      const { [field]: value, ...without } = payload
      const changed = value === undefined ? { ...payload, [field]: everything[field] } : without
      expect(newPayloadRefusal(schedule, newPayload, changed)).toEqual({ kind: 'structure', reason: expect.stringContaining(field) })
    }
    for (const field of ['withdrawals', 'parentBeaconBlockRoot', 'eip1559Params', 'minBaseFee'] as const) {
      const attributes = attributesAt(time)
      const { [field]: value, ...without } = attributes
      const changed = value === undefined ? { ...attributes, [field]: attributesAt(at('azul'))[field] } : without
      expect(attributesRefusal(schedule, forkchoiceUpdated, changed)).toEqual({ kind: 'structure', reason: expect.stringContaining(field) })
    }
  })
})
