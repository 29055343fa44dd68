import { describe, expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import { hashHeader } from '#types/header'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { numberAt, timeOf, timestampOf } from './blockTime.ts'
import { encodeL1Attributes } from './l1Info.ts'
import { l2OutputRoot } from './l2OutputRoot.ts'
import { l2RefOf, systemConfigOf } from './l2Ref.ts'
import { networkOf } from './networks.ts'

const { config } = networkOf('base')
const origin = { hash: parseHash(`0x${'0a'.repeat(32)}`), header: headerOf({ number: 17_481_770, excessBlobGas: 0n }) }

function payloadOf(fields: Partial<Payload>): Payload {
  const header = headerOf({})
  return {
    ...header,
    feeRecipient: header.beneficiary,
    prevRandao: header.mixHash,
    blockNumber: 7,
    blockHash: hashHeader(header),
    baseFeePerGas: 1n,
    transactions: [],
    ...fields,
  }
}

const block = (timestamp: number, extraData: Uint8Array, parentTimestamp = timestamp - 2): Payload => {
  const systemConfig = {
    ...config.genesis.systemConfig,
    operatorFeeScalar: 11,
    operatorFeeConstant: 22n,
    daFootprintGasScalar: 33,
  }
  const attributes = encodeL1Attributes(config, origin, systemConfig, { parentTimestamp, timestamp, sequenceNumber: 4 })
  return payloadOf({ timestamp, extraData, transactions: [attributes], gasLimit: 123n })
}
const jovianExtra = Buffer.from('01000000fa0000000600000000000f4240', 'hex')

describe('chainspec/l2Ref', () => {
  it('reads the L1 origin and sequence number from a block', () => {
    const payload = block(1_700_000_001, new Uint8Array())
    expect(l2RefOf(config, payload)).toEqual({
      hash: payload.blockHash,
      number: 7,
      parentHash: payload.parentHash,
      timestamp: 1_700_000_001,
      l1Origin: { hash: origin.hash, number: 17_481_770 },
      sequenceNumber: 4,
    })
  })

  it('takes genesis from the rollup config and rejects any other genesis block', () => {
    const first = payloadOf({ blockNumber: 0, blockHash: config.genesis.l2.hash, timestamp: config.genesis.l2TimeSec })
    expect(l2RefOf(config, first)).toMatchObject({ l1Origin: config.genesis.l1, sequenceNumber: 0 })
    expect(systemConfigOf(config, first)).toBe(config.genesis.systemConfig)
    expect(() => l2RefOf(config, payloadOf({ blockNumber: 0 }))).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  })

  it.each([
    ['no transaction', []],
    ['no deposit', [Uint8Array.of(2)]],
    ['a truncated deposit', [Uint8Array.of(0x7e, 0xc2)]],
  ])('rejects a block with %s (MALFORMED_L1_ATTRIBUTES)', (_what, transactions) => {
    expect(() => l2RefOf(config, payloadOf({ transactions }))).toThrow(expect.objectContaining({ code: 'MALFORMED_L1_ATTRIBUTES' }))
  })

  it('a Bedrock block gives overhead and scalar unchanged; a later block gives packed scalars', () => {
    expect(systemConfigOf(config, block(1_700_000_001, new Uint8Array()))).toEqual({ ...config.genesis.systemConfig, gasLimit: 123n })
    expect(systemConfigOf(config, block(1_715_000_001, new Uint8Array()))).toMatchObject({ overhead: 0n, scalar: (1n << 248n) | 684_000n })
  })

  it('reads base-fee parameters from extra data; fee fields appear one block after their fork', () => {
    const jovian = config.schedule.jovian ?? 0
    expect(systemConfigOf(config, block(jovian + 2, jovianExtra))).toMatchObject({
      eip1559Denominator: 250,
      eip1559Elasticity: 6,
      minBaseFee: 1_000_000n,
      operatorFeeScalar: 11,
      operatorFeeConstant: 22n,
      daFootprintGasScalar: 33,
    })
    expect(systemConfigOf(config, block(jovian, jovianExtra))).toMatchObject({ operatorFeeScalar: 11, daFootprintGasScalar: 0 })
    const isthmus = config.schedule.isthmus ?? 0
    const first = systemConfigOf(config, block(isthmus, Buffer.from('00000000fa00000006', 'hex')))
    expect(first).toMatchObject({ operatorFeeScalar: 0, operatorFeeConstant: 0n, eip1559Denominator: 250 })
    expect(() => systemConfigOf(config, block(isthmus, new Uint8Array()))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_L1_ATTRIBUTES' }),
    )
  })
})

it('chainspec/blockTime: blocks are due every two seconds from genesis on', () => {
  expect(timeOf(config, 0)).toBe(1_686_789_347_000)
  expect(timestampOf(config, 53_556_127)).toBe(1_793_901_601)
  expect(numberAt(config, 1_793_901_601_000)).toBe(53_556_127)
  expect(numberAt(config, 1_793_901_600_999)).toBe(53_556_126)
  expect(numberAt(config, 1_686_789_346_999)).toBeUndefined()
})

it('chainspec/l2OutputRoot: computes the output root of a recorded genesis', () => {
  const root = l2OutputRoot({
    stateRoot: parseHash('0xd72bae4b272d1e399c9f832af2bd63bd1e1c029bbf020c46564bf0f8accb1250'),
    messagePasserStorageRoot: parseHash('0x8ed4baae3a927be3dea54996b4d5899f8c01e7594bf50b17dc1e741388ce3d12'),
    hash: parseHash('0x0cbc4bbba884a9d904c6acc95c58d9b8607b0a2b2cce9a53c7276b251f68710c'),
  })
  expect(root).toBe('0x7389af4c3497f1c061436f44a059e1fd82a0ee5175455de2e0274222538aa470')
})
